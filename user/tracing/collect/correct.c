// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BPF charges each call with what its probes cost in calibration. There they run in a tight loop;
 * between them a real program fills the caches with its own things, and then all of a probe's way
 * through the kernel takes longer, our program's part with it. So some entries are timed there
 * (struct wire_node::sampled_ns), and the cost of the path's probes is raised as these are;
 * calibration tells by how much. Measured with functions that walk through 0 to 2 MB between calls,
 * a call cost 1 to 1.9 times as much.
 */
#include "collect/correct.h"

#include "attach/costs.h"
#include "calls/profile.h"
#include "collect/figures.h"
#include "tables/stack_copy.h"

#define MIN_TIMED  4 /* fewer parts say nothing */
#define MIN_FACTOR 0.8
#define MAX_FACTOR 4

double correct__factor(const struct probe_costs *costs, uint64_t timed_ns, uint64_t expected_ns)
{
	uint64_t enough = MIN_TIMED * (uint64_t)costs->classes[WIRE_COST_TIMED].inside_ns;
	double factor;

	if (!expected_ns || expected_ns < enough)
		return 1;
	factor = 1 + ((double)timed_ns / (double)expected_ns - 1) * costs->cold_gain;
	return factor < MIN_FACTOR ? MIN_FACTOR : factor > MAX_FACTOR ? MAX_FACTOR : factor;
}

uint64_t correct__added(uint64_t ns, double more)
{
	double sum = (double)ns + more;

	return sum > 0 ? (uint64_t)sum : 0;
}

void correct__stack_copy(struct stack_copy *copy, const struct probe_costs *costs)
{
	/* What single-stepping costs is the processor's doing, and the hypervisor's. */
	const struct wire_cost *in = &costs->classes[WIRE_COST_ENTRY_PUSH];
	const struct wire_cost *out = &costs->classes[WIRE_COST_RETURN];

	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		struct stack_copy_node *n = &copy->nodes[i];
		double more = (correct__factor(costs, n->timed_ns, n->expected_ns) - 1) *
			      (double)n->calls;
		uint64_t *charged;

		n->probe_ns = correct__added(n->probe_ns, more * (in->inside_ns + out->inside_ns));
		charged = n->parent < copy->nodes_cnt ? &copy->nodes[n->parent].probe_ns
						      : &copy->outside_ns;
		*charged = correct__added(*charged, more * (in->outside_ns + out->outside_ns));
	}
}

void correct__unseen(struct stack_copy *copy, const struct function_probes *probes, uint32_t cnt)
{
	/* Callers come before their callees, and may be such functions themselves. */
	for (uint32_t i = copy->nodes_cnt; i-- > 0;) {
		struct stack_copy_node *n = &copy->nodes[i];
		uint32_t function = n->function & ~WIRE_NODE_BURST;
		uint64_t off_ns = n->off_ns < n->self_ns ? n->off_ns : n->self_ns;

		if (function == n->function || function >= cnt ||
		    !probes[function].unseen_in_bursts)
			continue;
		n->off_ns = 0;
		n->self_ns -= off_ns;
		if (n->parent < i) {
			copy->nodes[n->parent].off_ns += off_ns;
			copy->nodes[n->parent].self_ns += off_ns;
		}
	}
}

void correct__node(const struct stack_copy_node *n, double error, bool raw, struct call_stats *out)
{
	uint64_t off = n->off_ns < n->self_ns ? n->off_ns : n->self_ns, cpu = n->self_ns - off;
	uint64_t probes = n->probe_ns < cpu ? n->probe_ns : cpu;

	*out = (struct call_stats){
		.calls = n->calls,
		.raw_self_ns = n->self_ns,
		.off_self_ns = off,
		.self_ns = raw ? n->self_ns : n->self_ns - probes,
		.self_error_ns = raw ? 0 : (uint64_t)((double)n->probe_ns * error),
		.min_ns = n->min_ns ? n->min_ns : UINT64_MAX,
		.max_ns = n->max_ns,
	};
	out->total_ns = out->self_ns;
	out->off_ns = out->off_self_ns;
	out->raw_total_ns = out->raw_self_ns;
	out->error_ns = out->self_error_ns;
}
