// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/call_edges.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/listing.h"
#include "sink/names.h"

/* State of a path while the graph is made. */
struct step {
	uint64_t calls; /* of it and all below */
	bool outermost; /* of its function */
};

struct key {
	uint32_t caller, callee, node;
};

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_functions(const void *a, const void *b, void *ctx)
{
	const struct profile_function *functions = ctx;
	const struct profile_function *x = &functions[*(const uint32_t *)a];
	const struct profile_function *y = &functions[*(const uint32_t *)b];
	int order = compare_texts(x->module, y->module);

	if (!order)
		order = compare_texts(x->file, y->file);
	return order ? order : strcmp(function__name(x), function__name(y));
}

/* Lists functions and threads; of[function] is which of them a function has become. */
static int list_functions(struct graph *g, const struct profile *p, const struct listing *listing,
			  uint32_t *of)
{
	uint32_t *order = calloc(p->functions_cnt + 1, sizeof(*order));
	size_t cnt = 0, i;

	g->functions = calloc(p->functions_cnt + p->threads_cnt + 1, sizeof(*g->functions));
	if (!order || !g->functions) {
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < p->functions_cnt; i++)
		if (listing[i].listed)
			order[cnt++] = i;
	qsort_r(order, cnt, sizeof(*order), compare_functions, p->functions);
	for (i = 0; i < cnt; i++) {
		if (!i || compare_functions(&order[i - 1], &order[i], p->functions))
			g->functions[g->functions_cnt++].function = order[i];
		of[order[i]] = g->functions_cnt - 1;
	}
	free(order);
	g->threads_from = g->functions_cnt;
	for (i = 0; i < p->threads_cnt; i++)
		g->functions[g->functions_cnt++].function = i;
	return 0;
}

static void add_self(struct graph_function *f, const struct call_stats *s)
{
	f->self[COST_WALL] += s->self_ns;
	f->self[COST_CPU] += stats__cpu_self_ns(s);
	f->self[COST_OFF] += s->off_self_ns;
	f->self[COST_CALLS] += s->calls;
}

/* `on_path`, by function of the graph: how often it is on the path to the current node. */
static void walk_paths(struct graph *g, const struct profile *p, const uint32_t *of,
		       struct step *steps, uint32_t *on_path)
{
	size_t i;

	for (i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];
			uint32_t function = of[n->function];

			if (w.entering) {
				add_self(&g->functions[function], &n->stats);
				steps[w.node].outermost = !on_path[function]++;
				steps[w.node].calls += n->stats.calls;
			} else {
				on_path[function]--;
				steps[n->parent].calls += steps[w.node].calls;
			}
		}
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void add_call(struct call_edge *edge, const struct call_stats *s, const struct step *step)
{
	edge->calls += s->calls;
	if (!step->outermost)
		return;
	edge->total[COST_WALL] += s->total_ns;
	edge->total[COST_CPU] += stats__cpu_ns(s);
	edge->total[COST_OFF] += s->off_ns;
	edge->total[COST_CALLS] += step->calls;
}

/* `keys`: room for one a node. */
static int make_edges(struct graph *g, const struct profile *p, const uint32_t *of,
		      const struct step *steps, struct key *keys)
{
	size_t cnt = p->nodes_cnt ? p->nodes_cnt - 1 : 0, i;

	for (i = 0; i < cnt; i++) {
		const struct profile_node *n = &p->nodes[i + 1];

		keys[i].caller =
			n->parent ? of[p->nodes[n->parent].function] : g->threads_from + n->thread;
		keys[i].callee = of[n->function];
		keys[i].node = i + 1;
	}
	qsort(keys, cnt, sizeof(*keys), compare_keys);
	for (i = 0; i < cnt; i++)
		g->edges_cnt += !i || compare_keys(&keys[i - 1], &keys[i]);
	g->edges = calloc(g->edges_cnt + 1, sizeof(*g->edges));
	if (!g->edges)
		return -ENOMEM;
	g->edges_cnt = 0;
	for (i = 0; i < cnt; i++) {
		if (!i || compare_keys(&keys[i - 1], &keys[i]))
			g->edges[g->edges_cnt++] = (struct call_edge){.caller = keys[i].caller,
								      .callee = keys[i].callee};
		add_call(&g->edges[g->edges_cnt - 1], &p->nodes[keys[i].node].stats,
			 &steps[keys[i].node]);
	}
	return 0;
}

int graph__init(struct graph *g, const struct profile *p, const struct listing *listing)
{
	uint32_t *of = calloc(p->functions_cnt + 1, sizeof(*of));
	uint32_t *on_path = calloc(p->functions_cnt + 1, sizeof(*on_path));
	struct step *steps = calloc(p->nodes_cnt + 1, sizeof(*steps));
	struct key *keys = calloc(p->nodes_cnt + 1, sizeof(*keys));
	int err = -ENOMEM;

	*g = (struct graph){0};
	if (of && on_path && steps && keys)
		err = list_functions(g, p, listing, of);
	if (!err) {
		walk_paths(g, p, of, steps, on_path);
		err = make_edges(g, p, of, steps, keys);
	}
	free(of);
	free(on_path);
	free(steps);
	free(keys);
	return err;
}

void graph__clear(struct graph *g)
{
	free(g->functions);
	free(g->edges);
	*g = (struct graph){0};
}
