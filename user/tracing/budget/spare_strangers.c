// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/spare_strangers.h"

#include "attach/costs.h"
#include "attach/tracer.h"
#include "budget/inputs.h"
#include "looks/call_cost.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/log.h"
#include "util/text.h"

#define BEARABLE 0.01 /* of one CPU since the start: what all of them together may pay */
#define BURST_NS 20e6 /* CPU time that they may pay beyond that, as at once */

static bool has_functions(const struct plan *p, size_t object)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].object == object)
			return true;
	}
	return false;
}

/* Who may join later finds probes in its files, and so does everybody else who maps them. */
static void tell_who_pays(const struct budget_inputs *in)
{
	for (size_t i = 0; i < in->target->objects_cnt; i++) {
		const struct target_object *obj = &in->target->objects[i];

		if (!has_functions(in->plan, i) || !obj->strangers ||
		    obj->strangers == STRANGERS_UNKNOWN)
			continue;
		log_info("%u other process%s %s, and pay%s for its probes (-p with process ids "
			 "spares them)",
			 obj->strangers, obj->strangers == 1 ? " maps" : "es map",
			 path_base(obj->path), obj->strangers == 1 ? "s" : "");
	}
}

void spare_strangers__tell(const struct budget_inputs *in)
{
	const struct target *t = in->target;

	if (in->joins)
		tell_who_pays(in);
	if (!in->children || !t->processes_cnt || !in->plan->may_fork)
		return;
	for (size_t i = 0; i < t->objects_cnt; i++) {
		const struct target_object *obj = &t->objects[i];

		if (tracer__is_unbound(in->tracer, i) || !has_functions(in->plan, i))
			continue;
		if (obj->strangers && obj->strangers != STRANGERS_UNKNOWN)
			log_info("children are not followed in %s, as %u other process%s it, but "
				 "pay for its probes (--follow counts their calls)",
				 path_base(obj->path), obj->strangers,
				 obj->strangers == 1 ? " maps" : "es map");
		else
			log_info("children are not followed in %s, but pay for its probes "
				 "(--follow counts their calls)",
				 path_base(obj->path));
	}
}

/* Cost of a stranger's call, in ns: the mean of all functions, as its calls are not told apart. */
static double mean_cost(const struct budget_inputs *in)
{
	const struct plan *p = in->plan;
	double sum = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		struct function_probes probes = call_cost__of(p, &p->functions[i]);

		sum += (double)probe_costs__call(&in->costs, probes.entry, probes.exit);
	}
	return p->functions_cnt ? sum / (double)p->functions_cnt : 0;
}

bool spare_strangers__is_due(const struct budget_inputs *in, uint64_t ran_ns)
{
	uint64_t hits;

	if (!in->children || in->follow || !in->target->processes_cnt)
		return false;
	hits = tracer__stranger_hits(in->tracer);
	return hits && (double)hits * mean_cost(in) > BURST_NS + BEARABLE * (double)ran_ns;
}
