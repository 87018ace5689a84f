/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table of the plan's functions, by file and offset; it grows with the plan. A profile may
 * have tens of thousands of sampled functions, each of which is looked up once. */
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
