/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the compiler has put into others in place of calls, by debug information. They are
 * functions of the plan without probes (PLAN_INLINED): in an object those of one name that are
 * declared at one place are one.
 */
#ifndef PROFTRACE_PLANNER_INLINED_H
#define PROFTRACE_PLANNER_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;
struct target;

struct plan_inlined {
	bool all;    /* however long it takes to read what tells of them */
	bool waits;  /* what takes a moment to read waits until samples have met the file's code */
	void *known; /* a tree of functions, see tsearch(3) */
	size_t known_cnt;
	struct inlined_object *objects; /* by number */
	size_t objects_cnt;
	uint64_t spent_ns; /* CPU time on lookups */
	bool spent;	   /* all that they may take */
};

#define PLAN_INLINED_MAX 32 /* at one place */

/* An address of code of one of the target's objects. */
struct plan_code {
	uint32_t object;
	uint64_t vaddr;
};

/* Samples have met code of an object for so much CPU time, in ns. */
void plan_inlined__met(struct plan_inlined *in, uint32_t object, uint64_t ns);

/*
 * Sets functions[] to the numbers of those that are inlined at `at`, the outermost first; *cnt: how
 * many, 0 where nothing tells. Debug information of an object is opened at its first call of this;
 * what takes a moment to read, as soon as the object's code has been met for fifty times as long.
 * Debug information that takes too long to read is left out, with a line logged. Returns 0,
 * -ENOMEM, -E2BIG (the plan is full) or -EAGAIN (not opened as yet).
 */
int plan_inlined__find(struct plan_inlined *in, struct plan *p, const struct target *t,
		       struct plan_code at, uint32_t functions[PLAN_INLINED_MAX], size_t *cnt);
void plan_inlined__free(struct plan_inlined *in);

#endif
