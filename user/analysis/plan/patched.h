/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is another in memory than in the file: what has been patched has no probe. */
#ifndef PROFTRACE_PLAN_PATCHED_H
#define PROFTRACE_PLAN_PATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;
struct code_piece;
struct insn_decoder;
struct plan;
struct plan_object;
struct plan_options;
struct target;

/* Why something is left out. */
extern const char patched__reason[];

/*
 * Looks into the memory of processes for those objects of the plan with asked[i] that have not been
 * looked at, where something may have run before we came. Returns 0, or -errno with a line logged.
 */
int patched__look(struct plan *p, const struct target *t, const struct plan_options *opts,
		  const bool *asked);

/* Like patched__look(), at one object of the plan. */
int patched__look_at(struct plan *p, const struct target *t, const struct plan_options *opts,
		     uint32_t object);

/* Takes out the hooks from the first one on that are patched. */
void patched__drop_hooks(struct plan *p, size_t first);

/* Takes from a decoded function the sites and exits that are patched, and what was concluded from
 * code that is. Sets code->patched. */
void patched__drop_sites(const struct plan_object *obj, struct insn_decoder *insn,
			 const struct code_piece *pieces, size_t cnt, struct code *code);

/* Says which functions, from the first one on, are left out or probed beside a patch. */
void patched__report(const struct plan *p, size_t first_function, size_t first_skipped);

#endif
