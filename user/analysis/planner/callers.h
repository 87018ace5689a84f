/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are known from stacks alone (--callers, samples): any function of any mapped file,
 * or of the kernel. They are functions of the plan without probes (PLAN_CALLER), so that their
 * numbers never change.
 */
#ifndef PROFTRACE_PLANNER_CALLERS_H
#define PROFTRACE_PLANNER_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "plan/planned.h"

struct caller_object;
struct plan;
struct plan_function;
struct target;

struct plan_callers {
	struct caller_object *objects; /* by number, plus 2; 0 is for code of no file, 1 the vdso */
	size_t objects_cnt;
	uint32_t *kernel; /* functions of the plan */
	size_t kernel_cnt, kernel_cap;
	struct planned planned;
	struct named_function *named; /* of JIT compilers, and waits */
	size_t named_cnt, named_cap;
};

#define CALLER_NO_OBJECT UINT32_MAX
#define CALLER_VDSO	 (UINT32_MAX - 1)

/*
 * *function = the number of the function whose code is at `vaddr` of the target's object `object`,
 * or CALLER_*; appended to the plan if it is new there. What has no name is one function of
 * its file, called as that in brackets. Symbols are loaded at an object's first call of this.
 * Returns 0, -ENOMEM, or -E2BIG (the plan is full).
 */
int plan_callers__find(struct plan_callers *c, struct plan *p, const struct target *t,
		       uint32_t object, uint64_t vaddr, uint32_t *function);
/* *function = the number of a function of the kernel, by its name ("tcp_sendmsg") and address, as
 * plan_callers__find(). The name is borrowed as long as the plan lives. */
int plan_callers__kernel(struct plan_callers *c, struct plan *p, const char *name, uint64_t start,
			 uint32_t *function);
/* Appends what stands for system calls, their errors and files, one behind the other from *first
 * on: see WIRE_CALL_FUNCTIONS. Their names are those that plan_callers__kernel() finds from then
 * on. */
int plan_callers__system_calls(struct plan_callers *c, struct plan *p, uint32_t *first);
/* *function = the number of a function that a JIT compiler has made, by its name, as
 * plan_callers__find(); where there are too many, or there is no name (NULL), of all such code. */
int plan_callers__jit(struct plan_callers *c, struct plan *p, const struct target *t,
		      const char *name, uint32_t *function);
/* *function = the number of what stands for a wait, by its name ("[lock]"), likewise. */
int plan_callers__wait(struct plan_callers *c, struct plan *p, const char *name,
		       uint32_t *function);
/* *function = the number of what stands for CPU time that no sample has met, likewise. */
int plan_callers__unmet(struct plan_callers *c, struct plan *p, uint32_t *function);
/* *function = the number of what stands for code of which nothing is known, likewise. */
int plan_callers__unknown(struct plan_callers *c, struct plan *p, uint32_t *function);
/* Appends a function to the plan: *number is its number. Returns 0, -ENOMEM, or -E2BIG (the plan is
 * full). */
int plan_callers__append(struct plan *p, struct plan_function f, uint32_t *number);
/* Frees names that the plan's functions borrow, so behind the last use of these. */
void plan_callers__free(struct plan_callers *c);

#endif
