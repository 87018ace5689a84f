// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/tree_rows.h"

#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "util/array.h"

#define ROWS_MAX      1000 /* more in a tree, and its cheap paths are folded */
#define CHEAP_DIVISOR 1000 /* cheap: less than 1/1000 of the tree */
#define LEVEL_MAX     64   /* deeper is folded too */
#define RUN_MAX	      8	   /* levels of simple recursion that get their own rows */

/* Samples see all code, down to the kernel's, of which there is more than anybody reads: there
 * cheap is so much more. */
#define SAMPLED_ROWS_MAX 80
#define KERNEL_FACTOR	 4
#define FEW_SAMPLES	 3		 /* fewer are uncertain by more than half */
#define FEW_PATHS	 (4 * LEVEL_MAX) /* below a path; of more it is not asked */

/* Cheap is less than the tree's time divided by that; what is tried until a sampled tree is short
 * enough. The last one is taken as it is. */
static const uint32_t sampled_divisors[] = {CHEAP_DIVISOR, 300, 100, 50};

struct builder {
	struct tree_rows *rows;
	const struct profile *p;
	bool everything;
	bool sampled;	   /* there are paths that only samples know */
	uint64_t cpu_ns;   /* of the tree */
	uint32_t rows_max; /* more are too many */
	uint32_t divisor;  /* 0: nothing is folded */
};

static uint64_t cheap_ns(const struct builder *b)
{
	return b->divisor ? b->rows->total_ns / b->divisor : 0;
}

static bool in_kernel(const struct builder *b, uint32_t node)
{
	const char *module = b->p->functions[b->p->nodes[node].function].module;

	return module && !strcmp(module, "[kernel]");
}

static bool is_wait(const struct builder *b, uint32_t node)
{
	return function__is_wait(&b->p->functions[b->p->nodes[node].function]);
}

/* Whether the program itself has stopped there: the kernel runs for it, or nobody does. */
static bool outside_program(const struct builder *b, uint32_t node)
{
	return in_kernel(b, node) || is_wait(b, node);
}

/* Threads that do nothing but wait, as most of a pool's, have nearly all the time of a tree that
 * shows their waiting, and must not hide those that work. */
static uint64_t cheap_cpu_ns(const struct builder *b)
{
	if (!b->sampled || !b->cpu_ns)
		return UINT64_MAX / KERNEL_FACTOR;
	return b->divisor ? b->cpu_ns / b->divisor : 0;
}

static bool is_cheap(const struct builder *b, const struct call_stats *s, uint32_t factor)
{
	return s->total_ns < cheap_ns(b) * factor && stats__cpu_ns(s) < cheap_cpu_ns(b) * factor;
}

/* The time that few samples stand for, below which a path may be chance; 0: nothing is folded. */
static uint64_t chance_ns(const struct builder *b)
{
	return b->divisor && b->sampled ? FEW_SAMPLES * b->p->sample_period_ns : 0;
}

/* Whether it is cheap, or chance, what `n` has beside its callee; neither has counted calls. */
static bool has_all(const struct builder *b, const struct call_stats *callee,
		    const struct call_stats *n)
{
	uint64_t cpu_ns = stats__cpu_ns(n), callee_cpu_ns = stats__cpu_ns(callee);
	uint64_t chance = chance_ns(b), wall = cheap_ns(b), cpu = cheap_cpu_ns(b);

	wall = wall > chance ? wall : chance;
	cpu = cpu > chance ? cpu : chance;
	return callee->total_ns <= n->total_ns && n->total_ns - callee->total_ns <= wall &&
	       (cpu_ns < callee_cpu_ns || cpu_ns - callee_cpu_ns <= cpu);
}

/* Whether a path and all below it are known from few samples alone. */
static bool is_chance(const struct builder *b, uint32_t node)
{
	const struct profile_node *nodes = b->p->nodes;
	const struct call_stats *s = &nodes[node].stats;
	struct walk w = walk__from(b->p, node);

	if (s->off_ns >= cheap_ns(b) || stats__cpu_ns(s) >= chance_ns(b))
		return false;
	for (uint32_t i = 0; i < 2 * FEW_PATHS && walk__next(&w); i++) {
		if (w.node == node && !w.entering)
			return true;
		if (nodes[w.node].stats.calls)
			return false;
	}
	return false;
}

/* Whether it and its later siblings, which one row is for, are all cheap. Those below a function of
 * the kernel are all the kernel's, or tell why it waits, which matters more. */
static bool folded(const struct builder *b, uint32_t node, uint32_t level)
{
	uint32_t parent = b->p->nodes[node].parent;
	bool kernel = b->sampled && parent && in_kernel(b, parent) && !is_wait(b, node);
	uint32_t factor = kernel ? KERNEL_FACTOR : 1;

	if (!b->divisor || level > LEVEL_MAX)
		return b->divisor;
	while (node && (is_cheap(b, &b->p->nodes[node].stats, factor) || is_chance(b, node)))
		node = b->p->nodes[node].next_sibling;
	return !node;
}

/* A single path without callees: its name takes no more room than what would stand for it. */
static bool is_single(const struct builder *b, uint32_t node)
{
	return !b->p->nodes[node].next_sibling && !b->p->nodes[node].first_child;
}

/* Who has the lock that a thread waits for: a row of its own, as the lock's name stands before it.
 */
static bool is_holder(const struct builder *b, uint32_t node)
{
	const char *name = b->p->functions[b->p->nodes[node].function].name;

	return is_wait(b, node) && name && !strncmp(name, "[held by ", strlen("[held by "));
}

/* The callee that has all the time of `node`, but for cheap ones, if neither has counted calls:
 * both are known from samples, or were open before tracing began. What a wait is for tells more
 * than what would stand for it, so it may be cheap. 0: there is none. */
static uint32_t chain(const struct builder *b, uint32_t node)
{
	const struct profile_node *n = &b->p->nodes[node], *child = &b->p->nodes[n->first_child];

	if (b->everything || !n->first_child || n->stats.calls || child->stats.calls ||
	    !has_all(b, &child->stats, &n->stats) ||
	    outside_program(b, node) != outside_program(b, n->first_child) ||
	    is_holder(b, n->first_child) ||
	    (folded(b, n->first_child, 1) && !is_wait(b, n->first_child)))
		return 0;
	return child->next_sibling && !b->divisor ? 0 : n->first_child;
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
		.end = node,
		.depth = above ? above->depth + 1 : 0,
		.level = above ? above->level + above->cnt : 1,
		.run = 1,
		.cnt = 1,
	};
	if (above && b->p->nodes[above->end].function == b->p->nodes[node].function)
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

/* Adds all of `node` and its later siblings, with all below them, but for their inclusive times.
 * Returns how many paths these are. */
static uint32_t add_all(const struct profile *p, struct tree_row *row, uint32_t node)
{
	struct walk w = walk__from(p, node);
	uint32_t cnt = 0;

	while (node && walk__next(&w)) {
		if (!w.entering)
			continue;
		cnt++;
		add_own(p, row, &p->nodes[w.node]);
	}
	return cnt;
}

/* One row for `node` and its later siblings. */
static void fill_more(const struct profile *p, struct tree_row *row)
{
	row->kind = ROW_MORE;
	row->cnt = add_all(p, row, row->node);
	for (uint32_t node = row->node; node; node = p->nodes[node].next_sibling)
		stats__add_callee(&row->stats, &p->nodes[node].stats);
}

/* Whether the row has its callees' time, too: a path known from samples only, all of whose callees
 * are cheap. */
static bool takes_callees(const struct builder *b, const struct tree_row *row)
{
	const struct profile_node *end = &b->p->nodes[row->end];

	return b->sampled && !b->everything && row->kind != ROW_RECURSION && !end->stats.calls &&
	       end->first_child && folded(b, end->first_child, row->level + row->cnt);
}

/* Returns the first callee that gets a row of its own, or 0. */
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
	while (row->kind != ROW_RECURSION && (next = chain(b, node))) {
		node = next;
		row->kind = ROW_CHAIN;
		add_own(p, row, &p->nodes[node]);
		add_all(p, row, p->nodes[node].next_sibling);
		row->cnt++;
	}
	row->end = node;
	next = p->nodes[node].first_child;
	if (!takes_callees(b, row))
		return next;
	add_all(p, row, next);
	row->folded = true;
	return 0;
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
		if (r->len >= b->rows_max)
			return -E2BIG;
		row = new_row(b, node, caller);
		if (!row)
			return -ENOMEM;
		if (folded(b, node, row->level) && !is_single(b, node)) {
			fill_more(b->p, row);
			node = 0;
			continue;
		}
		child = fill_call(b, row);
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

/* Adds all rows, of which there are not to be more than rows_max unless `last`. */
static int try_rows(struct builder *b, uint32_t root, uint32_t divisor, bool last)
{
	b->divisor = divisor;
	if (last)
		b->rows_max = UINT32_MAX;
	b->rows->len = 0;
	return add_rows(b, root);
}

int tree_rows__build(struct tree_rows *r, const struct profile *p, uint32_t thread, bool everything)
{
	const size_t divisors = sizeof(sampled_divisors) / sizeof(*sampled_divisors);
	struct builder b = {
		.rows = r,
		.p = p,
		.everything = everything,
		.sampled = p->sample_period_ns,
		.rows_max = p->sample_period_ns ? SAMPLED_ROWS_MAX : ROWS_MAX,
	};
	uint32_t node, root = p->threads[thread].first_root;
	int err;

	r->total_ns = 0;
	for (node = root; node; node = p->nodes[node].next_sibling) {
		r->total_ns += p->nodes[node].stats.total_ns;
		b.cpu_ns += stats__cpu_ns(&p->nodes[node].stats);
	}
	err = try_rows(&b, root, 0, everything);
	if (err == -E2BIG && !b.sampled)
		err = try_rows(&b, root, CHEAP_DIVISOR, true);
	for (size_t i = 0; err == -E2BIG && i < divisors; i++)
		err = try_rows(&b, root, sampled_divisors[i], i == divisors - 1);
	if (!err)
		mark_last(r);
	return err;
}

void tree_rows__fini(struct tree_rows *r)
{
	free(r->items);
	r->items = NULL;
}
