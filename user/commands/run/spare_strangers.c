// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/spare_strangers.h"

#include <stdio.h>

#include "attach/costs.h"
#include "attach/tracer.h"
#include "cli/options.h"
#include "run/call_cost.h"
#include "run/run.h"
#include "target/target.h"
#include "util/log.h"
#include "util/path.h"

#define BEARABLE 0.01 /* of one CPU since the start, of all of them together, */
#define BURST_NS 20e6 /* and so much at once */

static bool has_functions(const struct plan *p, size_t object)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].object == object)
			return true;
	}
	return false;
}

void spare_strangers__tell(const struct run *r)
{
	const struct target *t = r->target;

	if (!r->o->children || !t->processes_cnt || !r->plan->may_fork)
		return;
	for (size_t i = 0; i < t->objects_cnt; i++) {
		const struct target_object *obj = &t->objects[i];

		if (tracer__is_unbound(r->tracer, i) || !has_functions(r->plan, i))
			continue;
		if (obj->strangers && obj->strangers != STRANGERS_UNKNOWN)
			log_info("children are not followed in %s, as %u other process%s it "
				 "(--follow does)",
				 path_base(obj->path), obj->strangers,
				 obj->strangers == 1 ? " maps" : "es map");
		else
			log_info("children are not followed in %s (--follow does)",
				 path_base(obj->path));
	}
}

/* Cost of a stranger's call, in ns: the mean of all functions, as its calls are not told apart. */
static double mean_cost(const struct run *r)
{
	const struct plan *p = r->plan;
	double sum = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		struct function_probes probes = call_cost__of(p, &p->functions[i]);

		sum += (double)probe_costs__call(&r->costs, probes.entry, probes.exit);
	}
	return p->functions_cnt ? sum / (double)p->functions_cnt : 0;
}

int spare_strangers__look(struct run *r, uint64_t now_ns)
{
	uint64_t hits;

	if (r->spare_strangers.spared)
		tracer__drop_poll(r->tracer); /* closes what has been replaced */
	if (r->spare_strangers.spared || !r->o->children || r->o->follow ||
	    !r->target->processes_cnt)
		return 0;
	hits = tracer__stranger_hits(r->tracer);
	if (!hits ||
	    (double)hits * mean_cost(r) <= BURST_NS + BEARABLE * (double)(now_ns - r->start_ns))
		return 0;
	r->spare_strangers.spared = true;
	progress__clear(&r->progress);
	log_warn("other processes run the same functions often: probes are taken out of them, "
		 "and of children, which are not followed any more (--follow does, whoever pays)");
	return tracer__bind(r->tracer, r->plan, r->target);
}
