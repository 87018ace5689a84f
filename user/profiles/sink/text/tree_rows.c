// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/tree_rows.h"

#include <stdlib.h>
#include <string.h>

#include "calls/estimate.h"
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
#define FEW_PATHS	 (4 * LEVEL_MAX) /* below a path; of more it is not asked */

/* Cheap is less than the tree's weight divided by that; what is tried until a sampled tree is short
 * enough. The last one is taken as it is. */
static const uint32_t sampled_divisors[] = {CHEAP_DIVISOR, 300, 100, 50};

struct builder {
	struct tree_rows *rows;
	const struct profile *p;
	enum weight weight;
	bool everything;
	bool sampled;	   /* there are paths that only samples know */
	uint32_t rows_max; /* more are too many */
	uint32_t divisor;  /* 0: nothing is folded */
};

static uint64_t cheap_ns(const struct builder *b)
{
	return b->divisor ? b->rows->whole_ns / b->divisor : 0;
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

/* By wall time, threads that do nothing but wait, as most of a pool's, have nearly all of a tree
 * that shows their waiting, and must not hide those that work: a path is cheap if it is by its CPU
 * time, too. */
static uint64_t cheap_cpu_ns(const struct builder *b)
{
	if (!b->sampled || !b->rows->cpu_ns || b->weight != WEIGHT_WALL)
		return UINT64_MAX / KERNEL_FACTOR;
	return b->divisor ? b->rows->cpu_ns / b->divisor : 0;
}

static bool is_cheap(const struct builder *b, const struct call_stats *s, uint32_t factor)
{
	return weigh_total(s, b->weight) < cheap_ns(b) * factor &&
	       stats__cpu_ns(s) < cheap_cpu_ns(b) * factor;
}

/* The time that few samples stand for, below which a path may be chance; 0: nothing is folded. */
static uint64_t chance_ns(const struct builder *b)
{
	return b->divisor && b->sampled ? estimate__chance_ns(b->p) : 0;
}

/* Whether it is cheap, or chance, what `n` has beside its callee; neither has counted calls. */
static bool has_all(const struct builder *b, const struct call_stats *callee,
		    const struct call_stats *n)
{
	uint64_t weight = weigh_total(n, b->weight), callee_weight = weigh_total(callee, b->weight);
	uint64_t cpu_ns = stats__cpu_ns(n), callee_cpu_ns = stats__cpu_ns(callee);
	uint64_t chance = chance_ns(b), cheap = cheap_ns(b), cpu = cheap_cpu_ns(b);

	cheap = cheap > chance ? cheap : chance;
	cpu = cpu > chance ? cpu : chance;
	return callee_weight <= weight && weight - callee_weight <= cheap &&
	       (cpu_ns < callee_cpu_ns || cpu_ns - callee_cpu_ns <= cpu);
}

/* Whether a path and all below it are known from few samples alone. */
static bool is_chance(const struct builder *b, uint32_t node)
{
	const struct profile_node *nodes = b->p->nodes;
	const struct call_stats *s = &nodes[node].stats;
	struct walk w = walk__from(b->p, node);

	if ((s->off_ns >= cheap_ns(b) && b->weight != WEIGHT_CPU) ||
	    stats__cpu_ns(s) >= chance_ns(b))
		return false;
	for (uint32_t i = 0; i < 2 * FEW_PATHS && walk__next(&w); i++) {
		if (w.node == node && !w.entering)
			return true;
		if (nodes[w.node].stats.calls)
			return false;
	}
	return false;
}

/* Whether a path has no row of its own, but one together with siblings. A path below a function of
 * the kernel is the kernel's, too, or tells why it waits, which matters more. */
static bool folded(const struct builder *b, uint32_t node, uint32_t level)
{
	uint32_t parent = b->p->nodes[node].parent;
	bool kernel = b->sampled && parent && in_kernel(b, parent) && !is_wait(b, node);

	if (!b->divisor || level > LEVEL_MAX)
		return b->divisor;
	return is_cheap(b, &b->p->nodes[node].stats, kernel ? KERNEL_FACTOR : 1) ||
	       is_chance(b, node);
}

/* Returns `node` or the first of its later siblings that is folded, or that is not, as `is_folded`
 * says; 0: there is none. */
static uint32_t find(const struct builder *b, uint32_t node, uint32_t level, bool is_folded)
{
	while (node && folded(b, node, level) != is_folded)
		node = b->p->nodes[node].next_sibling;
	return node;
}

static bool all_folded(const struct builder *b, uint32_t first, uint32_t level)
{
	return !find(b, first, level, false);
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
	    (all_folded(b, n->first_child, 1) && !is_wait(b, n->first_child)))
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

static uint32_t level_below(const struct tree_rows *r, uint32_t caller)
{
	return caller ? r->items[caller - 1].level + r->items[caller - 1].cnt : 1;
}

/* *out = a new row. Returns 0, -ENOMEM, or -E2BIG: there are too many to read. */
static int new_row(struct builder *b, uint32_t node, uint32_t caller, struct tree_row **out)
{
	struct tree_rows *r = b->rows;
	struct tree_row *row, *above;

	if (r->len >= b->rows_max)
		return -E2BIG;
	if (ARRAY_RESERVE(&r->items, r->len, &r->cap))
		return -ENOMEM;
	row = *out = &r->items[r->len++];
	above = caller ? &r->items[caller - 1] : NULL;
	*row = (struct tree_row){
		.node = node,
		.caller = caller,
		.end = node,
		.depth = above ? above->depth + 1 : 0,
		.level = level_below(r, caller),
		.run = 1,
		.cnt = 1,
	};
	if (above && b->p->nodes[above->end].function == b->p->nodes[node].function)
		row->run = above->run + 1;
	return 0;
}

/* Adds all of a path of the row but its inclusive times. */
static void add_own(const struct profile *p, struct tree_row *row, const struct profile_node *n)
{
	stats__add_own(&row->stats, &n->stats);
	if (p->functions[n->function].sampled)
		row->sampled = p->functions[n->function].sampled;
}

/* Adds all of `node`, with all below it, but for their inclusive times. Returns how many paths
 * these are. */
static uint32_t add_tree(const struct profile *p, struct tree_row *row, uint32_t node)
{
	struct walk w = walk__from(p, node);
	uint32_t cnt = 0;

	while (walk__next(&w) && (w.entering || w.node != node)) {
		if (!w.entering)
			continue;
		cnt++;
		add_own(p, row, &p->nodes[w.node]);
	}
	return cnt;
}

/* Adds all of `node` and its later siblings, as add_tree() does. */
static void add_trees(const struct profile *p, struct tree_row *row, uint32_t node)
{
	for (; node; node = p->nodes[node].next_sibling)
		add_tree(p, row, node);
}

/* One row for `node` and those of its later siblings that are folded as well. */
static void fill_more(const struct builder *b, struct tree_row *row)
{
	const struct profile_node *nodes = b->p->nodes;

	row->kind = ROW_MORE;
	row->cnt = 0;
	for (uint32_t node = row->node; node;
	     node = find(b, nodes[node].next_sibling, row->level, true)) {
		row->cnt += add_tree(b->p, row, node);
		stats__add_callee(&row->stats, &nodes[node].stats);
	}
}

/* Whether the row has its callees' time, too: a path known from samples only, all of whose callees
 * are cheap. */
static bool takes_callees(const struct builder *b, const struct tree_row *row)
{
	const struct profile_node *end = &b->p->nodes[row->end];

	return b->sampled && !b->everything && row->kind != ROW_RECURSION && !end->stats.calls &&
	       end->first_child && all_folded(b, end->first_child, row->level + row->cnt);
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
		add_trees(p, row, p->nodes[node].next_sibling);
		row->cnt++;
	}
	row->end = node;
	next = p->nodes[node].first_child;
	if (!takes_callees(b, row))
		return next;
	add_trees(p, row, next);
	row->folded = true;
	return 0;
}

/* Adds a row for those of `first` and its siblings that have none of their own. A single path
 * without callees keeps its name, which takes no more room than what would stand for it. */
static int add_more(struct builder *b, uint32_t first, uint32_t caller)
{
	const struct profile_node *nodes = b->p->nodes;
	uint32_t level = level_below(b->rows, caller), node = find(b, first, level, true);
	struct tree_row *row;
	int err;

	if (!node)
		return 0;
	err = new_row(b, node, caller, &row);
	if (err)
		return err;
	if (!nodes[node].first_child && !find(b, nodes[node].next_sibling, level, true))
		fill_call(b, row);
	else
		fill_more(b, row);
	return 0;
}

/* Adds rows depth first, below each caller those of cheap paths last. Returns 0, -ENOMEM, or
 * -E2BIG: there are too many to read. */
static int add_rows(struct builder *b, uint32_t root)
{
	struct tree_rows *r = b->rows;
	const struct profile_node *nodes = b->p->nodes;
	uint32_t caller = 0, node = root, child;
	struct tree_row *row;
	int err;

	for (;;) {
		node = find(b, node, level_below(r, caller), false);
		if (node) {
			err = new_row(b, node, caller, &row);
			if (err)
				return err;
			child = fill_call(b, row);
			if (child)
				caller = r->len;
			node = child ? child : nodes[node].next_sibling;
			continue;
		}
		row = caller ? &r->items[caller - 1] : NULL;
		err = add_more(b, row ? nodes[row->end].first_child : root, caller);
		if (err || !caller)
			return err;
		row = &r->items[caller - 1];
		node = nodes[row->node].next_sibling;
		caller = row->caller;
	}
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

static void count_callees(struct tree_rows *r)
{
	for (size_t i = 0; i < r->len; i++)
		if (r->items[i].caller && r->items[i].kind != ROW_MORE)
			r->items[r->items[i].caller - 1].callees++;
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

int tree_rows__build(struct tree_rows *r, const struct profile *p, uint32_t thread,
		     enum weight weight, bool everything)
{
	const size_t divisors = sizeof(sampled_divisors) / sizeof(*sampled_divisors);
	struct builder b = {
		.rows = r,
		.p = p,
		.weight = weight,
		.everything = everything,
		.sampled = p->sample_period_ns,
		.rows_max = p->sample_period_ns ? SAMPLED_ROWS_MAX : ROWS_MAX,
	};
	uint32_t node, root = p->threads[thread].first_root;
	int err;

	r->whole_ns = r->cpu_ns = 0;
	for (node = root; node; node = p->nodes[node].next_sibling) {
		r->whole_ns += weigh_total(&p->nodes[node].stats, weight);
		r->cpu_ns += stats__cpu_ns(&p->nodes[node].stats);
	}
	err = try_rows(&b, root, 0, everything);
	if (err == -E2BIG && !b.sampled)
		err = try_rows(&b, root, CHEAP_DIVISOR, true);
	for (size_t i = 0; err == -E2BIG && i < divisors; i++)
		err = try_rows(&b, root, sampled_divisors[i], i == divisors - 1);
	if (err)
		return err;
	mark_last(r);
	count_callees(r);
	return 0;
}

void tree_rows__fini(struct tree_rows *r)
{
	free(r->items);
	r->items = NULL;
}
