/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares functions out among groups. A drop gives new links to all that shared a group with what
 * goes, in every process that has the probes, so groups are small where functions may be dropped:
 * a link more costs next to nothing (10 us to make it), a probe moved 5 to 50 us.
 */
#ifndef PROFTRACE_ATTACH_GROUPING_H
#define PROFTRACE_ATTACH_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/group.h"

struct grouping {
	struct attach_ctx *ctx;
	bool exits_only;
	size_t first;			       /* of its groups, among all */
	size_t most[CALLED_CLASSES];	       /* functions in a group */
	struct group *filling[CALLED_CLASSES]; /* NULL: none as yet */
};

/* In the context's process. `live`: the groups that it has in the object, but for those that the
 * new ones replace. */
void grouping__begin(struct grouping *gr, struct attach_ctx *ctx, bool exits_only, size_t live);

/* A region goes into a group of its own, so that nothing moves it: it may begin at the entry of a
 * function, whose probe is to be called first, hence put in later. Returns 0 or -ENOMEM. */
int grouping__add(struct grouping *gr, enum calls_class class, const struct group_member *m);

/* Puts all probes of the new groups in. Returns 0 or -errno, as group__link(). */
int grouping__link(struct grouping *gr);

/* Has the new groups closed again. */
void grouping__undo(struct grouping *gr);

#endif
