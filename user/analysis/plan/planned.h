/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions of files the plan has, by where they are: a hash table that grows with the plan.
 * Of tens of thousands each sampled one is sought once. */
#ifndef PROFTRACE_PLAN_PLANNED_H
#define PROFTRACE_PLAN_PLANNED_H

#include <stddef.h>
#include <stdint.h>

struct plan;

struct planned {
	uint32_t *slots; /* numbers in the plan, plus 1; 0: free */
	size_t cap;	 /* a power of two, or 0 */
	size_t cnt;	 /* in use */
	size_t seen;	 /* functions of the plan that were looked at */
};

#define PLANNED_NONE UINT32_MAX

/* Sets *function to the number of the first function, probed or not, that begins at `offset` of the
 * file of the target's object `object`, or to PLANNED_NONE. The plan's functions may become more
 * meanwhile, but stay where they are. Returns 0 or -ENOMEM. */
int planned__find(struct planned *t, const struct plan *p, uint32_t object, uint64_t offset,
		  uint32_t *function);

void planned__free(struct planned *t);

#endif
