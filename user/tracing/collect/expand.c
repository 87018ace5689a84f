// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "collect/stack_copy.h"
#include "collect/bpf_tables.h"

/* A part on its way, with an index of its nodes: open addressing, node number plus 1. */
struct expanding {
	struct stack_copy *to;
	uint32_t *index, mask;
	uint32_t *at; /* by node of the old part: where it is in the new one, STACK_COPY_ROOT */
};

static uint32_t stack_of(const struct bpf_tables *t, uint32_t function)
{
	uint32_t number = function & ~WIRE_NODE_CALLERS;

	return function & WIRE_NODE_CALLERS && number < t->info.callers_cap ? number : 0;
}

static int resolve(struct expansions *e, const struct bpf_tables *t, uint32_t number)
{
	const struct wire_callers *w = &t->callers[number];
	struct expansion *x = &e->stacks[number];
	uint32_t cnt = w->cnt < WIRE_CALLERS_FRAMES ? w->cnt : WIRE_CALLERS_FRAMES;
	int err = 0;

	if (x->resolved)
		return 0;
	x->functions = calloc(cnt + 1, sizeof(*x->functions));
	if (!x->functions)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < cnt; i++)
		err = e->resolve(w->frames[i] >> 48, w->frames[i] & ((1ull << 48) - 1),
				 &x->functions[i], e->ctx);
	if (err) {
		free(x->functions);
		x->functions = NULL;
		return err;
	}
	x->cnt = cnt;
	x->resolved = true;
	return 0;
}

/* The new part's node for a path; made if need be. */
static uint32_t node_for(struct expanding *x, uint32_t parent, uint32_t function)
{
	uint32_t i = ((uint64_t)parent << 24 ^ function) * 0x9e3779b97f4a7c15ull >> 32;

	for (;; i++) {
		uint32_t *place = &x->index[i & x->mask];
		struct stack_copy_node *n;

		if (!*place) {
			x->to->nodes[x->to->nodes_cnt] =
				(struct stack_copy_node){.parent = parent, .function = function};
			*place = ++x->to->nodes_cnt;
			return *place - 1;
		}
		n = &x->to->nodes[*place - 1];
		if (n->parent == parent && n->function == function)
			return *place - 1;
	}
}

static void add(struct stack_copy_node *n, const struct stack_copy_node *more)
{
	n->calls += more->calls;
	n->self_ns += more->self_ns;
	if (more->min_ns && (!n->min_ns || more->min_ns < n->min_ns))
		n->min_ns = more->min_ns;
	if (more->max_ns > n->max_ns)
		n->max_ns = more->max_ns;
	n->off_ns += more->off_ns;
	n->probe_ns += more->probe_ns;
	if (n->timed_ns < 1u << 31 && n->expected_ns < 1u << 31) {
		n->timed_ns += more->timed_ns;
		n->expected_ns += more->expected_ns;
	}
}

static void count_end(const struct bpf_tables *t, uint32_t stack, uint64_t calls,
		      struct profile_accounting *a)
{
	switch (t->callers[stack].end) {
	case WIRE_CALLERS_WHOLE:
		a->callers_whole += calls;
		break;
	case WIRE_CALLERS_NO_RULE:
		a->callers_no_rule += calls;
		break;
	case WIRE_CALLERS_UNREADABLE:
		a->callers_unreadable += calls;
		break;
	case WIRE_CALLERS_ASTRAY:
		a->callers_astray += calls;
		break;
	case WIRE_CALLERS_DEEP:
		a->callers_deep += calls;
		break;
	default:
		a->callers_lost += calls;
	}
}

static int fill(struct expansions *e, const struct bpf_tables *t, const struct stack_copy *copy,
		struct expanding *x, struct profile_accounting *a)
{
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];
		uint32_t stack = stack_of(t, n->function), at = STACK_COPY_ROOT;

		if (n->parent != STACK_COPY_ROOT) {
			uint32_t above;

			if (n->parent >= i)
				return -EINVAL;
			at = x->at[n->parent];
			above = stack_of(t, copy->nodes[n->parent].function);
			if (above)
				count_end(t, above, n->calls, a);
		}
		if (stack) {
			const struct expansion *known = &e->stacks[stack];

			for (uint32_t k = known->cnt; k-- > 0;)
				at = node_for(x, at, known->functions[k]);
		} else {
			at = node_for(x, at, n->function);
			add(&x->to->nodes[at], n);
		}
		x->at[i] = at;
	}
	return 0;
}

int expand__stack_copy(struct expansions *e, const struct bpf_tables *t,
		       const struct stack_copy *copy, struct profile_accounting *a,
		       struct stack_copy **out)
{
	struct expanding x = {0};
	size_t most = 1;
	uint32_t size = 2;
	int err = 0;

	for (uint32_t i = 0; !err && i < copy->nodes_cnt; i++) {
		uint32_t stack = stack_of(t, copy->nodes[i].function);

		err = stack ? resolve(e, t, stack) : 0;
		most += stack && !err ? e->stacks[stack].cnt : 1;
	}
	if (err)
		return err;
	while (size < most * 2)
		size *= 2;
	x.mask = size - 1;
	x.index = calloc(size, sizeof(*x.index));
	x.at = calloc(copy->nodes_cnt + 1, sizeof(*x.at));
	x.to = calloc(1, sizeof(*x.to) + most * sizeof(x.to->nodes[0]));
	if (x.index && x.at && x.to) {
		memcpy(x.to, copy, sizeof(*copy));
		x.to->nodes_cnt = 0;
		err = fill(e, t, copy, &x, a);
	} else {
		err = -ENOMEM;
	}
	free(x.index);
	free(x.at);
	if (err)
		free(x.to);
	else
		*out = x.to;
	return err;
}

void expand__free(struct expansions *e, const struct bpf_tables *t)
{
	for (uint32_t i = 0; e->stacks && i < t->info.callers_cap; i++)
		free(e->stacks[i].functions);
	free(e->stacks);
	*e = (struct expansions){0};
}
