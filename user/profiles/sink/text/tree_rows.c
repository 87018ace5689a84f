// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/tree_rows.h"

#include <stdlib.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "util/array.h"

#define ROWS_MAX      1000 /* more in a tree, and its cheap paths are folded */
#define CHEAP_DIVISOR 1000 /* cheap: less than 1/1000 of the tree */
#define LEVEL_MAX     64   /* deeper is folded too */
#define RUN_MAX	      8	   /* levels of simple recursion that get their own rows */

struct builder {
	struct tree_rows *rows;
	const struct profile *p;
	bool everything;
	bool fold;
};

/* Siblings are sorted by total: where the first cheap one stands, all others are cheap. */
static bool folded(const struct builder *b, uint32_t node, uint32_t level)
{
	return b->fold && (level > LEVEL_MAX ||
			   b->p->nodes[node].stats.total_ns < b->rows->total_ns / CHEAP_DIVISOR);
}

/* The only thing `node` calls, if that is itself; else 0. */
static uint32_t recursion(const struct profile *p, uint32_t node)
{
	uint32_t child = p->nodes[node].first_child;

	if (!child || p->nodes[child].next_sibling ||
	    p->nodes[child].function != p->nodes[node].function)
		return 0;
	return child;
}

static struct tree_row *new_row(struct builder *b, uint32_t node, uint32_t caller)
{
	struct tree_rows *r = b->rows;
	struct tree_row *row, *above;

	if (ARRAY_RESERVE(&r->items, r->len, &r->cap))
		return NULL;
	row = &r->items[r->len++];
	above = caller ? &r->items[caller - 1] : NULL;
	*row = (struct tree_row){
		.node = node,
		.caller = caller,
		.depth = above ? above->depth + 1 : 0,
		.level = above ? above->level + above->cnt : 1,
		.run = 1,
		.cnt = 1,
	};
	if (above && b->p->nodes[above->node].function == b->p->nodes[node].function)
		row->run = above->run + 1;
	return row;
}

/* Adds all of a path of the row but its inclusive times. */
static void add_own(const struct profile *p, struct tree_row *row, const struct profile_node *n)
{
	stats__add_own(&row->stats, &n->stats);
	if (p->functions[n->function].sampled)
		row->sampled = p->functions[n->function].sampled;
}

/* One row for `node` and its later siblings, with all below them. */
static void fill_more(const struct profile *p, struct tree_row *row)
{
	struct walk w = walk__from(p, row->node);

	row->kind = ROW_MORE;
	row->cnt = 0;
	while (walk__next(&w)) {
		if (!w.entering)
			continue;
		row->cnt++;
		add_own(p, row, &p->nodes[w.node]);
		if (!w.depth)
			stats__add_callee(&row->stats, &p->nodes[w.node].stats);
	}
}

/* Returns the last node of the row: its children are the row's children. */
static uint32_t fill_call(const struct builder *b, struct tree_row *row)
{
	const struct profile *p = b->p;
	uint32_t node = row->node, next;

	add_own(p, row, &p->nodes[node]);
	stats__add_callee(&row->stats, &p->nodes[node].stats);
	while (!b->everything && row->run > RUN_MAX && (next = recursion(p, node))) {
		node = next;
		row->kind = ROW_RECURSION;
		add_own(p, row, &p->nodes[node]);
		row->cnt++;
	}
	return node;
}

/* Adds rows depth first. Returns 0, -ENOMEM, or -E2BIG: there are too many to read. */
static int add_rows(struct builder *b, uint32_t node)
{
	struct tree_rows *r = b->rows;
	const struct profile_node *nodes = b->p->nodes;
	uint32_t caller = 0, child;

	while (node || caller) {
		struct tree_row *row;

		if (!node) {
			row = &r->items[caller - 1];
			node = nodes[row->node].next_sibling;
			caller = row->caller;
			continue;
		}
		if (r->len >= ROWS_MAX && !b->everything && !b->fold)
			return -E2BIG;
		row = new_row(b, node, caller);
		if (!row)
			return -ENOMEM;
		if (folded(b, node, row->level)) {
			fill_more(b->p, row);
			node = 0;
			continue;
		}
		child = nodes[fill_call(b, row)].first_child;
		if (child)
			caller = r->len;
		node = child ? child : nodes[node].next_sibling;
	}
	return 0;
}

/* From the bottom up, the first row seen at a depth is the last of its siblings. */
static void mark_last(struct tree_rows *r)
{
	bool seen[TREE_INDENT_MAX + 2] = {false};
	size_t i;

	for (i = r->len; i--;) {
		struct tree_row *row = &r->items[i];

		if (row->depth > TREE_INDENT_MAX)
			continue;
		row->last = !seen[row->depth];
		seen[row->depth] = true;
		seen[row->depth + 1] = false;
	}
}

int tree_rows__build(struct tree_rows *r, const struct profile *p, uint32_t thread, bool everything)
{
	struct builder b = {.rows = r, .p = p, .everything = everything};
	uint32_t node, root = p->threads[thread].first_root;
	int err;

	r->total_ns = 0;
	for (node = root; node; node = p->nodes[node].next_sibling)
		r->total_ns += p->nodes[node].stats.total_ns;
	r->len = 0;
	err = add_rows(&b, root);
	if (err == -E2BIG) {
		b.fold = true;
		r->len = 0;
		err = add_rows(&b, root);
	}
	if (!err)
		mark_last(r);
	return err;
}

void tree_rows__fini(struct tree_rows *r)
{
	free(r->items);
	r->items = NULL;
}
