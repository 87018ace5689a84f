// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call paths arrive as a flat array in which a node knows only its parent. Linking sorts all nodes
 * once and hangs each at the front of its parent's list, the cheapest first, so that every list
 * ends up with the dearest at its head. All walks are iterative: see walk.h.
 */
#include "calls/tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "util/search.h"

/* A node with its first sort criteria beside it in memory: a million are sorted in one go. */
struct sort_key {
	uint64_t weight;
	uint64_t total_ns;
	uint64_t calls;
	uint32_t node;
};

static const char *node_name(const struct profile *p, uint32_t node)
{
	const char *name = p->functions[p->nodes[node].function].name;

	return name ? name : "";
}

/* The one that is to come last in its list first. */
static int compare_keys(const void *a, const void *b, void *profile)
{
	const struct sort_key *x = a, *y = b;
	const struct profile *p = profile;
	int order = 0;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? -1 : 1;
	if (p->nodes[x->node].function != p->nodes[y->node].function)
		order = strcmp(node_name(p, y->node), node_name(p, x->node));
	if (order)
		return order;
	return x->node > y->node ? -1 : x->node < y->node;
}

static bool node_valid(const struct profile *p, const struct profile_node *n)
{
	return n->parent < p->nodes_cnt && n->function < p->functions_cnt &&
	       n->thread < p->threads_cnt;
}

int profile__connect_by(struct profile *p, enum weight weight)
{
	size_t i, cnt = p->nodes_cnt ? p->nodes_cnt - 1 : 0;
	struct sort_key *keys;

	for (i = 0; i < p->threads_cnt; i++)
		p->threads[i].first_root = 0;
	if (!cnt)
		return 0;
	keys = calloc(cnt, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (i = 0; i < cnt; i++) {
		struct profile_node *n = &p->nodes[i + 1];

		if (!node_valid(p, n)) {
			free(keys);
			return -EINVAL;
		}
		n->first_child = 0;
		keys[i] = (struct sort_key){weigh_total(&n->stats, weight), n->stats.total_ns,
					    n->stats.calls, i + 1};
	}
	qsort_r(keys, cnt, sizeof(*keys), compare_keys, p);
	for (i = 0; i < cnt; i++) {
		struct profile_node *n = &p->nodes[keys[i].node];
		uint32_t *list = n->parent ? &p->nodes[n->parent].first_child
					   : &p->threads[n->thread].first_root;

		n->next_sibling = *list;
		*list = keys[i].node;
	}
	free(keys);
	return 0;
}

int profile__connect(struct profile *p)
{
	return profile__connect_by(p, WEIGHT_WALL);
}

/* Samples of a function that has probes, at a time when it had none, are time of all its callers.
 */
static void add_unprobed(struct profile *p, uint32_t node)
{
	const struct call_stats *s = &p->nodes[node].stats;

	if (!s->calls || !s->sampled_ns)
		return;
	for (uint32_t i = node; i; i = p->nodes[i].parent)
		p->functions[p->nodes[i].function].unprobed_samples += s->samples;
}

/*
 * The variance of a function's calls is not the sum of its paths': each of these has the error of
 * the path's share as well, and all shares together are 1, whatever each of them is. Of 1,000 calls
 * +- 100 on two paths, of each of which a burst has met one call, a path has 500 +- 294; the
 * function has 1,000 +- 100, and not 1,000 +- 416. If a view has left out paths, the errors of the
 * others' shares count. But the error of the function's rate is the same for all of its paths, so
 * it does not level out: half of the calls are uncertain by 50 at least, on however many paths.
 */
static void settle_variance(struct profile_function *f, const struct profile_estimate *e)
{
	double shown = (double)f->stats.burst_calls, all = (double)e->calls;

	/* With none of its estimated calls the function is not shown as estimated. */
	if (!(e->varied > 0) || (!f->stats.burst_calls && !(f->stats.calls_varied > 0)))
		return;
	if (shown >= all)
		f->stats.calls_varied = e->varied;
	else
		f->stats.calls_varied =
			fmax(f->stats.calls_varied, floor(shown / all * (shown / all) * e->varied));
}

int profile__summarize(struct profile *p)
{
	uint32_t *on_path; /* by function: its frames on the path to the current node */
	size_t i;

	on_path = calloc(p->functions_cnt + 1, sizeof(*on_path));
	if (!on_path)
		return -ENOMEM;
	for (i = 0; i < p->functions_cnt; i++) {
		p->functions[i].stats = (struct call_stats){.min_ns = UINT64_MAX};
		p->functions[i].spent_ns = p->functions[i].taken_ns = 0;
		p->functions[i].unprobed_samples = 0;
		p->functions[i].cut = false;
	}
	for (i = 0; i < p->drops_cnt; i++)
		p->functions[p->drops[i].function].cut |= !p->drops[i].sampled;
	for (i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];

			if (!w.entering) {
				on_path[n->function]--;
				continue;
			}
			stats__add_own(&p->functions[n->function].stats, &n->stats);
			if (!on_path[n->function]++)
				stats__add_callee(&p->functions[n->function].stats, &n->stats);
			p->functions[n->function].spent_ns += n->stats.total_ns;
			if (n->stats.raw_total_ns > n->stats.total_ns)
				p->functions[n->function].taken_ns +=
					n->stats.raw_total_ns - n->stats.total_ns;
			add_unprobed(p, w.node);
		}
	}
	for (i = 0; i < p->estimates_cnt; i++)
		settle_variance(&p->functions[p->estimates[i].function], &p->estimates[i]);
	free(on_path);
	return 0;
}

struct profile_estimate *profile__find_estimate(const struct profile *p, uint32_t function)
{
	size_t at = LOWER_BOUND(p->estimates_cnt, k, p->estimates[k].function < function);

	return at < p->estimates_cnt && p->estimates[at].function == function ? &p->estimates[at]
									      : NULL;
}

void profile__count_estimates(struct profile *p)
{
	for (size_t i = 0; i < p->estimates_cnt; i++)
		p->estimates[i].calls = 0;
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		struct profile_estimate *e = profile__find_estimate(p, p->nodes[i].function);

		if (e)
			e->calls += p->nodes[i].stats.burst_calls;
	}
}
