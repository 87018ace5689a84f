// SPDX-License-Identifier: GPL-2.0-or-later
#include "bursts/look_list.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/tracer.h"
#include "bursts/counting.h"
#include "bursts/inside.h"
#include "plan/exit_strategy.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/array.h"

#define EVERY	     3	  /* in one window of so many a function is counted again */
#define BURST_PROBES 8000 /* in all processes: functions with more have bursts in turns */

static int list_add(struct bursts *b, size_t member)
{
	if (ARRAY_RESERVE(&b->list, b->list_cnt, &b->list_cap) ||
	    ARRAY_RESERVE(&b->functions, b->list_cnt, &b->functions_cap) ||
	    ARRAY_RESERVE(&b->calls, b->list_cnt, &b->calls_cap) ||
	    ARRAY_RESERVE(&b->read, b->list_cnt, &b->read_cap))
		return -ENOMEM;
	b->list[b->list_cnt++] = member;
	return 0;
}

static int by_function(const void *a, const void *b, void *ctx)
{
	const struct member *members = ctx;
	uint32_t f = members[*(const uint32_t *)a].function;
	uint32_t g = members[*(const uint32_t *)b].function;

	return f < g ? -1 : f > g;
}

/* Links are made by functions in order. */
static void list_sort(struct bursts *b)
{
	qsort_r(b->list, b->list_cnt, sizeof(*b->list), by_function, b->members);
	for (size_t i = 0; i < b->list_cnt; i++)
		b->functions[i] = b->members[b->list[i]].function;
}

/* Sets the list to chosen[0 .. cnt - 1]; a negative `cnt` is an error. Returns 0 or -ENOMEM. */
static int list_set(struct bursts *b, const uint32_t *chosen, int cnt)
{
	int err = cnt < 0 ? cnt : 0;

	b->list_cnt = 0;
	for (int i = 0; !err && i < cnt; i++)
		err = list_add(b, chosen[i]);
	list_sort(b);
	return err;
}

int look_list__wide(struct bursts *b)
{
	uint32_t chosen[COUNTING_WIDE];

	return list_set(b, chosen,
			counting__choose_wide(b->members, b->cnt, bursts__random(b), chosen));
}

int look_list__window(struct bursts *b)
{
	struct moment all = bursts__own_moment(b);
	uint64_t io = all.io.reads > all.io.writes ? all.io.reads : all.io.writes;
	const struct counting how = {
		.cost_ns = WINDOW_COST,
		.io_per_ns = all.ran_ns ? (double)io / (double)all.ran_ns : 0,
		.again = b->windows.cnt % EVERY == EVERY - 1,
		.random = bursts__random(b),
	};
	uint32_t chosen[COUNTING_MOST];

	return list_set(b, chosen, counting__choose(b->members, b->cnt, &how, chosen));
}

double look_list__processes(const struct bursts *b)
{
	size_t processes = b->in.target->processes_cnt;

	return processes ? (double)processes : 1;
}

/* Whether there are return probes in links for every process. Our program declines them in children
 * then; where links are bound to one process it does not run in its children, which have them all
 * the same (docs/internals/exits.md). */
static bool has_shared_returns(const struct bursts *b)
{
	const struct plan *p = b->in.plan;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->exit == EXIT_RETURN && tracer__is_unbound(b->in.tracer, f->object))
			return true;
	}
	return false;
}

bool look_list__is_in_one(const struct bursts *b)
{
	return stand_ins__suit(b->in.plan, b->in.target) && !has_shared_returns(b);
}

int look_list__burst(struct bursts *b, bool in_one, double *probes)
{
	double most = in_one ? BURST_PROBES : BURST_PROBES / look_list__processes(b);
	int err = 0;

	b->list_cnt = 0;
	*probes = 0;
	while (!err && b->list_cnt < b->dropped && (!b->list_cnt || *probes < most)) {
		size_t member = b->next_burst++ % b->cnt;

		if (b->members[member].exact)
			continue;
		*probes += b->members[member].probes;
		err = list_add(b, member);
	}
	if (b->list_cnt == b->dropped)
		b->next_burst = 0;
	if (!err)
		list_sort(b);
	return err;
}

double look_list__first_probes(const struct bursts *b)
{
	double probes = 0, most;

	if (b->bursts.cnt)
		return 0;
	most = look_list__is_in_one(b) ? BURST_PROBES : BURST_PROBES / look_list__processes(b);
	for (size_t i = 0; i < b->cnt && probes < most; i++)
		probes += b->members[i].exact ? 0 : b->members[i].probes;
	return probes;
}

int look_list__choose_process(struct bursts *b)
{
	uint64_t since_ns = bursts__ran_ns(b) - b->drawn_ran_ns;

	if (ARRAY_GROW(&b->clocks, &b->clocks_cnt, b->in.target->processes_cnt))
		return -ENOMEM;
	b->drawn_ran_ns += since_ns;
	return stand_ins__draw(&b->stand_ins, b->in.target, b->clocks, since_ns, bursts__random(b));
}
