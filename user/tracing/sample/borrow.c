// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/borrow.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sample/cpu_shares.h"
#include "tables/stack_copy.h"
#include "util/array.h"
#include "util/search.h"

#define MOST_LOANS   8	  /* a call has samples of so many places at most */
#define SLIGHTLY     1.01 /* what is short by less is not short */
#define GOLDEN_RATIO 0.6180339887498949

/* Samples of one call stack that were met below a path. */
struct met {
	uint64_t path; /* that of the innermost call with probes */
	size_t copy;
	uint32_t base, node;
	double ns;
	double before_ns; /* of the same path's */
};

/* A path that samples met something below, in all call stacks together. */
struct lent {
	uint64_t path;
	size_t first, cnt;     /* of what was met */
	double cpu_ns, met_ns; /* own CPU time of its calls; what samples of it stand for */
	double turn;	       /* 0 to 1: which of them is lent next */
};

struct lending {
	const struct stack_copy *const *copies;
	size_t cnt;
	struct met *met;
	size_t met_cnt, met_cap;
	struct lent *lent;
	size_t lent_cnt, lent_cap;
	/* For one call stack, by node: its path, and the time that its own samples stand for. */
	uint64_t *paths;
	double *met_here;
	size_t paths_cap, met_here_cap;
};

static uint64_t path_of(const struct lending *l, const struct stack_copy_node *n)
{
	uint64_t above = n->parent == STACK_COPY_ROOT ? 0 : l->paths[n->parent];

	above = (above ^ (n->function + 1ull)) * 0x9e3779b97f4a7c15ull;
	return above ^ above >> 29;
}

/* Sets what is known by node. */
static int look_at(struct lending *l, const struct stack_copy *copy)
{
	if (ARRAY_RESERVE_MORE(&l->paths, 0, copy->nodes_cnt, &l->paths_cap) ||
	    ARRAY_RESERVE_MORE(&l->met_here, 0, copy->nodes_cnt, &l->met_here_cap))
		return -ENOMEM;
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		l->paths[i] = path_of(l, &copy->nodes[i]);
		l->met_here[i] = 0;
	}
	for (uint32_t i = 0; i < copy->samples_cnt; i++) {
		if (copy->samples[i].base != STACK_COPY_ROOT)
			l->met_here[copy->samples[i].base] += (double)copy->samples[i].ns;
	}
	return 0;
}

static int note_met(struct lending *l, size_t copy)
{
	const struct stack_copy *c = l->copies[copy];

	for (uint32_t i = 0; i < c->samples_cnt; i++) {
		const struct stack_copy_sample *s = &c->samples[i];

		if (s->base == STACK_COPY_ROOT || !s->ns)
			continue;
		if (ARRAY_RESERVE(&l->met, l->met_cnt, &l->met_cap))
			return -ENOMEM;
		l->met[l->met_cnt++] = (struct met){
			.path = l->paths[s->base],
			.copy = copy,
			.base = s->base,
			.node = s->node,
			.ns = (double)s->ns,
		};
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct met *m = a, *n = b;

	if (m->path != n->path)
		return m->path < n->path ? -1 : 1;
	if (m->copy != n->copy)
		return m->copy < n->copy ? -1 : 1;
	return m->node < n->node ? -1 : m->node > n->node;
}

static int sum_met(struct lending *l)
{
	qsort(l->met, l->met_cnt, sizeof(*l->met), by_path);
	for (size_t i = 0; i < l->met_cnt; i++) {
		struct met *m = &l->met[i];
		struct lent *of;

		if (!i || m->path != l->met[i - 1].path) {
			if (ARRAY_RESERVE(&l->lent, l->lent_cnt, &l->lent_cap))
				return -ENOMEM;
			l->lent[l->lent_cnt++] = (struct lent){.path = m->path, .first = i};
		}
		of = &l->lent[l->lent_cnt - 1];
		m->before_ns = of->met_ns;
		of->met_ns += m->ns;
		of->cnt++;
	}
	return 0;
}

static struct lent *lent_of(const struct lending *l, uint64_t path)
{
	size_t at = LOWER_BOUND(l->lent_cnt, i, l->lent[i].path < path);

	return at < l->lent_cnt && l->lent[at].path == path ? &l->lent[at] : NULL;
}

static double own_cpu_ns(const struct stack_copy_node *n)
{
	uint64_t not_own = n->off_ns + n->probe_ns;

	return n->self_ns > not_own ? (double)(n->self_ns - not_own) : 0;
}

/* The time that a call has too few samples for. All samples of a path together stand for as much as
 * all of its calls took, but for at most MOST_FIT times as much as they do by themselves. */
static double short_by(const struct lent *of, double own_ns, double met_ns)
{
	double wanted = own_ns;

	if (of->met_ns * MOST_FIT < of->cpu_ns)
		wanted *= of->met_ns * MOST_FIT / of->cpu_ns;
	return wanted > met_ns * MOST_FIT * SLIGHTLY ? wanted - met_ns : 0;
}

static size_t loans_of(const struct lent *of, double ns)
{
	double usual_ns = of->met_ns / (double)of->cnt;

	return ns > usual_ns * MOST_LOANS ? MOST_LOANS : (size_t)ceil(ns / usual_ns);
}

/* Turns by the golden ratio meet each part of a path's samples as often as it is large, wherever
 * one begins and ends. */
static const struct met *next_loan(const struct lending *l, struct lent *of)
{
	const struct met *met = &l->met[of->first];
	double at;
	size_t i;

	of->turn += GOLDEN_RATIO;
	of->turn -= of->turn >= 1;
	at = of->turn * of->met_ns;
	i = LOWER_BOUND(of->cnt, k, met[k].before_ns <= at);
	return &met[i ? i - 1 : 0];
}

static size_t depth_below(const struct stack_copy *c, uint32_t node, uint32_t base)
{
	size_t depth = 0;

	for (; node != base; node = c->nodes[node].parent)
		depth++;
	return depth;
}

/* The place of a loan in another call stack, below its own node `base`. */
static uint32_t put_place(struct copy_paths *x, const struct stack_copy *from, const struct met *m,
			  uint32_t base)
{
	size_t depth = depth_below(from, m->node, m->base);
	uint32_t at = base;

	while (depth-- > 0) {
		uint32_t step = m->node;

		for (size_t i = 0; i < depth; i++)
			step = from->nodes[step].parent;
		at = copy_paths__node(x, at, from->nodes[step].function);
	}
	return at;
}

/* How many samples a call stack lacks, and at most how many nodes they take. */
static size_t count_loans(struct lending *l, const struct stack_copy *copy, size_t *nodes)
{
	size_t loans = 0;

	*nodes = 0;
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		struct lent *of = lent_of(l, l->paths[i]);
		double ns = of ? short_by(of, own_cpu_ns(&copy->nodes[i]), l->met_here[i]) : 0;
		double turn = of ? of->turn : 0;

		for (size_t k = ns > 0 ? loans_of(of, ns) : 0; k > 0; k--, loans++) {
			const struct met *m = next_loan(l, of);

			*nodes += depth_below(l->copies[m->copy], m->node, m->base);
		}
		if (of)
			of->turn = turn;
	}
	return loans;
}

static void put_loans(struct lending *l, struct copy_paths *x, const struct stack_copy *copy,
		      const uint32_t *at)
{
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		struct lent *of = lent_of(l, l->paths[i]);
		double ns = of ? short_by(of, own_cpu_ns(&copy->nodes[i]), l->met_here[i]) : 0;
		size_t loans = ns > 0 ? loans_of(of, ns) : 0;

		for (size_t k = 0; k < loans; k++) {
			const struct met *m = next_loan(l, of);

			copy_paths__sample(
				x, &(struct stack_copy_sample){
					   .base = at[i],
					   .node = put_place(x, l->copies[m->copy], m, at[i]),
					   .ns = (uint64_t)(ns / (double)loans),
				   });
		}
	}
}

static int lend(struct lending *l, const struct stack_copy *copy, struct stack_copy **out)
{
	size_t nodes, loans;
	struct copy_paths x = {0};
	uint32_t *at;
	int err;

	err = look_at(l, copy);
	if (err)
		return err;
	loans = count_loans(l, copy, &nodes);
	at = calloc(copy->nodes_cnt + 1, sizeof(*at));
	err = at ? copy_paths__init(&x, copy, copy->nodes_cnt + nodes, copy->samples_cnt + loans)
		 : -ENOMEM;
	for (uint32_t i = 0; !err && i < copy->nodes_cnt; i++) {
		struct stack_copy_node n = copy->nodes[i];

		n.parent = n.parent == STACK_COPY_ROOT ? STACK_COPY_ROOT : at[n.parent];
		at[i] = copy_paths__node(&x, n.parent, n.function);
		x.to->nodes[at[i]] = n;
	}
	if (!err) {
		copy_paths__samples(&x, copy, at);
		put_loans(l, &x, copy, at);
	}
	copy_paths__fini(&x);
	free(at);
	*out = x.to;
	return err;
}

/* Whether any call stack lacks samples; sums up the time of each path meanwhile. */
static int sum_cpu(struct lending *l, bool *lacking)
{
	int err = 0;

	for (int again = 0; !err && again < 2 && !*lacking; again++) {
		for (size_t i = 0; !err && i < l->cnt; i++) {
			const struct stack_copy *copy = l->copies[i];

			err = look_at(l, copy);
			for (uint32_t k = 0; !err && k < copy->nodes_cnt; k++) {
				struct lent *of = lent_of(l, l->paths[k]);
				double ns = own_cpu_ns(&copy->nodes[k]);

				if (of && again)
					*lacking |= short_by(of, ns, l->met_here[k]) > 0;
				else if (of)
					of->cpu_ns += ns;
			}
		}
	}
	return err;
}

int borrow__samples(const struct stack_copy *const *copies, size_t cnt, struct stack_copy **out)
{
	struct lending l = {.copies = copies, .cnt = cnt};
	bool lacking = false;
	int err = 0;

	memset(out, 0, cnt * sizeof(*out));
	for (size_t i = 0; !err && i < cnt; i++) {
		err = look_at(&l, copies[i]);
		err = err ? err : note_met(&l, i);
	}
	if (!err)
		err = sum_met(&l);
	if (!err)
		err = sum_cpu(&l, &lacking);
	for (size_t i = 0; !err && lacking && i < cnt; i++)
		err = lend(&l, copies[i], &out[i]);
	for (size_t i = 0; err && i < cnt; i++) {
		free(out[i]);
		out[i] = NULL;
	}
	free(l.met);
	free(l.lent);
	free(l.paths);
	free(l.met_here);
	return err;
}
