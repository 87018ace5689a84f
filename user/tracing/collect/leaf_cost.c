// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A leaf of a few instructions takes next to no time, so what was measured of it is the cost of its
 * probes, there and then, with all that a calibration elsewhere knows nothing of: what the
 * hypervisor makes of a single step today, or what the target's own code has left of the caches. A
 * probe that is single-stepped costs 10 us here, and that varies by a percent; beside that a
 * getter's own 2 ns would be lost, and the time of all that calls it.
 *
 * Some leaves wait for memory. So it is not the average that counts but the lower quartile, by
 * calls, of all there are of the same kind of probes.
 */
#include "collect/leaf_cost.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/collector.h"
#include "tables/stack_copy.h"

#define MIN_CALLS 500  /* of a leaf that is to count */
#define MIN_ALL	  2000 /* of all leaves of a kind */
#define INSN_NS	  0.4  /* a guess */
#define MIN_RATIO 0.9  /* what is further off is no error of calibration */
#define MAX_RATIO 1.15

struct leaf {
	uint64_t calls, ns, probe_ns;
	double ratio;
	const struct function_probes *probes;
};

static void add_copy(const struct stack_copy *copy, const struct function_probes *probes,
		     uint32_t cnt, struct leaf *leaves)
{
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];
		struct leaf *leaf = &leaves[n->function];

		if (n->function >= cnt || !probes[n->function].leaf_insns || n->self_ns < n->off_ns)
			continue;
		leaf->calls += n->calls;
		leaf->ns += n->self_ns - n->off_ns;
		leaf->probe_ns += n->probe_ns;
	}
}

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->probes->entry != y->probes->entry)
		return x->probes->entry < y->probes->entry ? -1 : 1;
	if (x->probes->exit != y->probes->exit)
		return x->probes->exit < y->probes->exit ? -1 : 1;
	return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

/* Keeps the leaves that say something, those of a kind side by side. */
static size_t sort_leaves(struct leaf *leaves, const struct function_probes *probes, uint32_t cnt)
{
	size_t kept = 0;

	for (uint32_t f = 0; f < cnt; f++) {
		struct leaf leaf = leaves[f];
		double own_ns;

		if (leaf.calls < MIN_CALLS || !leaf.probe_ns)
			continue;
		own_ns = (double)leaf.calls * probes[f].leaf_insns * INSN_NS;
		leaf.ratio = ((double)leaf.ns - own_ns) / (double)leaf.probe_ns;
		leaf.probes = &probes[f];
		leaves[kept++] = leaf;
	}
	if (kept)
		qsort(leaves, kept, sizeof(*leaves), compare_leaves);
	return kept;
}

static double bounded(double ratio)
{
	return ratio < MIN_RATIO ? MIN_RATIO : ratio > MAX_RATIO ? MAX_RATIO : ratio;
}

/* The lower quartile of leaves of one kind; 1 if they are too few. */
static double quartile(const struct leaf *leaves, size_t cnt)
{
	uint64_t all = 0, seen = 0;
	size_t i = 0;

	for (size_t k = 0; k < cnt; k++)
		all += leaves[k].calls;
	if (all < MIN_ALL)
		return 1;
	for (; seen + leaves[i].calls < all / 4; i++)
		seen += leaves[i].calls;
	return bounded(leaves[i].ratio);
}

int leaf_cost__measure(const struct stack_copy *const *copies, size_t copies_cnt,
		       const struct function_probes *probes, uint32_t functions_cnt,
		       struct leaf_costs *out)
{
	struct leaf *leaves;
	size_t cnt, next;

	for (int in = 0; in < WIRE_COST_CLASSES; in++)
		for (int exit = 0; exit < WIRE_COST_CLASSES; exit++)
			out->ratio[in][exit] = 1;
	if (!probes)
		return 0;
	leaves = calloc(functions_cnt + 1, sizeof(*leaves));
	if (!leaves)
		return -ENOMEM;
	for (size_t i = 0; i < copies_cnt; i++)
		add_copy(copies[i], probes, functions_cnt, leaves);
	cnt = sort_leaves(leaves, probes, functions_cnt);
	for (size_t i = 0; i < cnt; i = next) {
		const struct function_probes *kind = leaves[i].probes;

		for (next = i; next < cnt && leaves[next].probes->entry == kind->entry &&
			       leaves[next].probes->exit == kind->exit;)
			next++;
		out->ratio[kind->entry][kind->exit] = quartile(&leaves[i], next - i);
	}
	free(leaves);
	return 0;
}
