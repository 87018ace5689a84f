// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/filter.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "calls/walk.h"
#include "timeline/timeline_view.h"

struct filtered {
	const struct profile *from;
	const struct profile_filter *what;
	struct profile_node *nodes; /* what is left */
	size_t nodes_cnt;
	uint32_t *levels; /* by node of what is left: how many calls deep; 1: outermost */
	uint32_t *into;	  /* by node: what is left of it, or of its nearest caller; 0: nothing */
	uint32_t *shown;  /* by node: what is left of it; 0: it has become part of its caller */
	uint64_t *gone;	  /* by function: calls */
	struct path_map map;
};

static bool stays(const struct filtered *n, const struct profile_node *node, uint32_t caller)
{
	const struct profile_filter *w = n->what;

	return (!w->functions || w->functions[node->function]) &&
	       (!w->depth || n->levels[caller] < w->depth);
}

/* Its caller has been here before. */
static void take_node(struct filtered *n, uint32_t number)
{
	const struct profile_node *node = &n->from->nodes[number];
	uint32_t caller = n->into[node->parent], *into;

	if (!stays(n, node, caller)) {
		n->into[number] = caller;
		n->gone[node->function] += node->stats.calls;
		if (caller)
			stats__add_self(&n->nodes[caller].stats, &node->stats);
		return;
	}
	into = path_map__at(&n->map, path_step(caller, node->thread, node->function));
	if (*into) {
		stats__add(&n->nodes[*into].stats, &node->stats);
	} else {
		*into = n->nodes_cnt++;
		n->nodes[*into] = (struct profile_node){
			.parent = caller,
			.function = node->function,
			.thread = node->thread,
			.stats = node->stats,
		};
		n->levels[*into] = n->levels[caller] + 1;
	}
	n->into[number] = n->shown[number] = *into;
}

static void take_thread(struct filtered *n, size_t thread)
{
	bool kept = !n->what->threads || n->what->threads[thread];
	struct walk w = walk__from(n->from, n->from->threads[thread].first_root);

	while (walk__next(&w)) {
		const struct profile_node *node = &n->from->nodes[w.node];

		if (w.entering && kept)
			take_node(n, w.node);
		else if (w.entering)
			n->gone[node->function] += node->stats.calls;
	}
}

static void cut_distributions(struct profile *p, const uint64_t *gone)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->buckets_cnt; i++) {
		if (!gone[p->buckets[i].function])
			p->buckets[cnt++] = p->buckets[i];
	}
	p->buckets_cnt = cnt;
}

/* Lines are of all calls of their function together. */
static void cut_lines(struct profile *p, const struct profile_filter *what, const uint64_t *gone)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->lines_cnt; i++) {
		uint32_t f = p->lines[i].function;

		if (!gone[f] && (!what->functions || what->functions[f]))
			p->lines[cnt++] = p->lines[i];
	}
	p->lines_cnt = cnt;
}

static int filter_alloc(struct filtered *n)
{
	const struct profile *p = n->from;

	n->nodes = calloc(p->nodes_cnt + 1, sizeof(*n->nodes));
	n->nodes_cnt = 1;
	n->levels = calloc(p->nodes_cnt + 1, sizeof(*n->levels));
	n->into = calloc(p->nodes_cnt + 1, sizeof(*n->into));
	n->shown = calloc(p->nodes_cnt + 1, sizeof(*n->shown));
	n->gone = calloc(p->functions_cnt + 1, sizeof(*n->gone));
	if (!n->nodes || !n->levels || !n->into || !n->shown || !n->gone)
		return -ENOMEM;
	return path_map__init(&n->map, p->nodes_cnt);
}

int profile__filter(struct profile *p, const struct profile_filter *what)
{
	struct filtered n = {.from = p, .what = what};
	int err = filter_alloc(&n);

	if (err)
		goto out;
	for (size_t i = 0; i < p->threads_cnt; i++)
		take_thread(&n, i);
	/* Single calls nest by their times, with or without those that have become their caller's.
	 */
	err = timeline__view(&p->timeline,
			     &(struct timeline_view){.into = n.shown, .into_cnt = p->nodes_cnt});
	n.shown = NULL;
	if (err)
		goto out;
	free(p->nodes);
	p->nodes = n.nodes;
	p->nodes_cnt = n.nodes_cnt;
	n.nodes = NULL;
	cut_distributions(p, n.gone);
	cut_lines(p, what, n.gone);
	for (size_t i = 0; what->functions && i < p->functions_cnt; i++)
		p->functions[i].hidden = !what->functions[i];
	err = profile__connect(p);
out:
	path_map__fini(&n.map);
	free(n.nodes);
	free(n.levels);
	free(n.into);
	free(n.shown);
	free(n.gone);
	return err;
}
