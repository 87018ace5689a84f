// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/tail_calls.h"

#include "plan/plan.h"

#define MOST_IN_A_ROW 16 /* functions that jump to one another */

/* The function that begins at an offset of an object's file, if its leave is seen; else
 * functions_cnt. */
static size_t recorded_at(const struct plan *p, uint32_t object, uint64_t offset)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->object == object && f->offset == offset && f->kind == PLAN_FUNCTION &&
		    (f->exit != EXIT_NONE || f->closed_at_entry))
			return i;
	}
	return p->functions_cnt;
}

static int follow(struct plan *p, size_t function, int (*on_callee)(void *ctx, size_t function),
		  void *ctx, unsigned in_a_row)
{
	const struct plan_function *f = &p->functions[function];
	int err = 0;

	if (f->exit != EXIT_SITES || in_a_row == MOST_IN_A_ROW)
		return 0;
	for (uint32_t i = 0; i < f->exits_cnt && err >= 0; i++) {
		struct plan_exit *e = &p->exits[f->exits + i];
		size_t callee;

		if (!e->target || e->goes_on)
			continue;
		callee = recorded_at(p, f->object, e->target);
		if (callee == p->functions_cnt)
			continue;
		e->goes_on = true;
		err = on_callee(ctx, callee);
		if (err >= 0)
			err = follow(p, callee, on_callee, ctx, in_a_row + 1);
	}
	return err;
}

int tail_calls__follow(struct plan *p, size_t function,
		       int (*on_callee)(void *ctx, size_t function), void *ctx)
{
	int err = follow(p, function, on_callee, ctx, 0);

	return err < 0 ? err : 0;
}

bool tail_calls__end_unseen(const struct plan *p, size_t function)
{
	const struct plan_function *f = &p->functions[function];

	if (f->exit != EXIT_SITES || !f->tail_jumps)
		return false;
	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		const struct plan_exit *e = &p->exits[f->exits + i];

		if (e->kind != CODE_EXIT_RET && !e->early && !e->goes_on)
			return true;
	}
	return false;
}
