// SPDX-License-Identifier: GPL-2.0-or-later
#include "looks/call_cost.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/callers.h"
#include "attach/costs.h"
#include "plan/exit_strategy.h"
#include "plan/plan.h"
#include "wire.h"

/* For a region: the cost of its first end. */
static uint8_t end_class(const struct plan *p, const struct plan_function *f)
{
	if (!f->ends_cnt)
		return WIRE_COST_NONE;
	switch (p->sites[f->sites + f->begins_cnt].site) {
	case SITE_NOP5:
	case SITE_NOP10:
		return WIRE_COST_EXIT_NOP5;
	case SITE_STEP:
		return WIRE_COST_EXIT_STEP;
	default:
		return WIRE_COST_EXIT_JMP;
	}
}

static uint8_t exit_class(const struct plan *p, const struct plan_function *f)
{
	uint8_t class = WIRE_COST_NONE;
	bool emulated = false;

	if (f->kind != PLAN_FUNCTION)
		return end_class(p, f);
	if (f->exit == EXIT_RETURN)
		return WIRE_COST_RETURN;
	if (plan__exits_step(p, f))
		return WIRE_COST_EXIT_STEP;
	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		emulated |= p->exits[f->exits + i].emulated;
		class = WIRE_COST_EXIT_JMP;
	}
	return emulated ? WIRE_COST_EXIT_RET : class;
}

struct function_probes call_cost__of(const struct plan *p, const struct plan_function *f)
{
	return (struct function_probes){
		.entry = f->kind == PLAN_SYSTEM_CALL   ? WIRE_COST_SYSTEM_CALL
			 : plan_function__has_probe(f) ? cost_class__of_entry(f->entry.site)
						       : WIRE_COST_NONE,
		.exit = exit_class(p, f),
		.leaf_insns = f->leaf_insns,
		.entry_size = f->entry.size,
		.emulation = f->entry.emulation,
	};
}

struct function_probes call_cost__in_burst(const struct plan *p, const struct plan_function *f)
{
	struct function_probes probes = call_cost__of(p, f);

	if (plan__exits_step(p, f))
		probes.exit = WIRE_COST_NONE;
	return probes;
}

int call_cost__tell(const struct plan *p, struct collector *c)
{
	struct function_probes *probes = calloc(p->functions_cnt + 1, sizeof(*probes));
	int err;

	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		probes[i] = call_cost__of(p, f);
		probes[i].unseen_in_bursts = f->kind == PLAN_FUNCTION && !f->closed_at_entry &&
					     call_cost__in_burst(p, f).exit == WIRE_COST_NONE;
	}
	err = collector__set_probes(c, probes, p->functions_cnt);
	free(probes);
	return err;
}

double call_cost__unwinding_ns(const struct tracer *tr)
{
	uint64_t ns, cnt;

	tracer__unwind_cost(tr, &ns, &cnt);
	return cnt ? (double)ns / (double)cnt : 0;
}
