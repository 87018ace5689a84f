// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/call_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/search.h"

struct call {
	uint32_t from, to;
};

struct call_graph {
	struct call_node *nodes;
	size_t nodes_cnt, nodes_cap;
	struct call *calls;
	size_t calls_cnt, calls_cap;
	uint32_t *table; /* node numbers + 1 by hash, 0: free; its size is a power of two */
	size_t table_size;
};

struct call_graph *call_graph__new(void)
{
	return calloc(1, sizeof(struct call_graph));
}

void call_graph__free(struct call_graph *g)
{
	if (!g)
		return;
	free(g->nodes);
	free(g->calls);
	free(g->table);
	free(g);
}

/* The node's place in the table, or the free place for it. */
static uint32_t *place_of(struct call_graph *g, uint32_t object, uint64_t vaddr)
{
	uint64_t hash = (vaddr ^ (uint64_t)object << 48) * 0x9e3779b97f4a7c15;
	size_t at = hash >> 32;

	for (;; at++) {
		uint32_t *place = &g->table[at & (g->table_size - 1)];

		if (!*place ||
		    (g->nodes[*place - 1].vaddr == vaddr && g->nodes[*place - 1].object == object))
			return place;
	}
}

static int table_grow(struct call_graph *g)
{
	size_t size = g->table_size ? g->table_size * 2 : 1024;
	uint32_t *table;

	if (g->table_size > 2 * g->nodes_cnt)
		return 0;
	table = calloc(size, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(g->table);
	g->table = table;
	g->table_size = size;
	for (size_t i = 0; i < g->nodes_cnt; i++)
		*place_of(g, g->nodes[i].object, g->nodes[i].vaddr) = i + 1;
	return 0;
}

uint32_t call_graph__node(struct call_graph *g, uint32_t object, uint64_t vaddr)
{
	uint32_t *place;

	if (g->nodes_cnt >= CALL_NODE_NONE - 1 || table_grow(g) ||
	    ARRAY_RESERVE(&g->nodes, g->nodes_cnt, &g->nodes_cap))
		return CALL_NODE_NONE;
	place = place_of(g, object, vaddr);
	if (!*place) {
		g->nodes[g->nodes_cnt] = (struct call_node){.vaddr = vaddr, .object = object};
		*place = ++g->nodes_cnt;
	}
	return *place - 1;
}

size_t call_graph__count(const struct call_graph *g)
{
	return g->nodes_cnt;
}

struct call_node *call_graph__at(struct call_graph *g, uint32_t node)
{
	return &g->nodes[node];
}

int call_graph__add_call(struct call_graph *g, uint32_t from, uint32_t to)
{
	if (ARRAY_RESERVE(&g->calls, g->calls_cnt, &g->calls_cap))
		return -ENOMEM;
	g->calls[g->calls_cnt++] = (struct call){from, to};
	return 0;
}

static int by_callee(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	return (a->to > b->to) - (a->to < b->to);
}

static size_t first_call_of(const struct call_graph *g, uint32_t callee)
{
	return LOWER_BOUND(g->calls_cnt, i, g->calls[i].to < callee);
}

int call_graph__spread(struct call_graph *g)
{
	uint32_t *work = calloc(g->nodes_cnt + 1, sizeof(*work));
	size_t work_cnt = 0;

	if (!work)
		return -ENOMEM;
	if (g->calls_cnt)
		qsort(g->calls, g->calls_cnt, sizeof(*g->calls), by_callee);
	for (size_t i = 0; i < g->nodes_cnt; i++) {
		if (g->nodes[i].spoilt)
			work[work_cnt++] = i;
	}
	/* Each node is put to work once, when it gets spoilt. */
	while (work_cnt) {
		uint32_t callee = work[--work_cnt];

		for (size_t i = first_call_of(g, callee);
		     i < g->calls_cnt && g->calls[i].to == callee; i++) {
			struct call_node *caller = &g->nodes[g->calls[i].from];

			if (!caller->spoilt) {
				caller->spoilt = true;
				work[work_cnt++] = g->calls[i].from;
			}
		}
	}
	free(work);
	return 0;
}
