/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The news of a run's last minute or so, from profiles that are kept now and then. */
#ifndef PROFTRACE_LIVE_MINUTE_H
#define PROFTRACE_LIVE_MINUTE_H

#include <stddef.h>

struct profile;

#define MINUTE_KEPT 7 /* one for each ten seconds, and the one that the minute begins with */

struct minute {
	struct profile *kept[MINUTE_KEPT]; /* the oldest first */
	size_t cnt;
};

/* Keeps a copy of `now`, all that was found so far, if the last one is old enough. `m` is all zero
 * at first. Names are borrowed. Returns 0 or -ENOMEM. */
int minute__take(struct minute *m, const struct profile *now);

/* *out = what was found within the last minute; the caller frees it. Returns 0 or -ENOMEM. */
int minute__of(const struct minute *m, const struct profile *now, struct profile **out);

void minute__fini(struct minute *m);

#endif
