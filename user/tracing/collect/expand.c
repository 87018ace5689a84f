// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/expand.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "tables/stack_copy.h"
#include "tables/bpf_tables.h"

/* A copy on its way. */
struct expanding {
	struct copy_paths paths;
	uint32_t *at; /* by node of the old copy: where it is in the new one, STACK_COPY_ROOT */
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
	for (uint32_t i = 0; !err && i < cnt; i++) {
		const struct code_place at = code_place(w->pid, w->frames[i]);

		err = e->resolve(&at, &x->functions[i], e->ctx);
	}
	if (err) {
		free(x->functions);
		x->functions = NULL;
		return err;
	}
	x->cnt = cnt;
	x->resolved = true;
	return 0;
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
				at = copy_paths__node(&x->paths, at, known->functions[k]);
		} else {
			at = copy_paths__node(&x->paths, at, n->function & ~WIRE_NODE_BURST);
			copy_paths__add(&x->paths, at, n);
			if (n->function & WIRE_NODE_BURST)
				x->paths.to->nodes[at].burst_calls += n->calls;
		}
		x->at[i] = at;
	}
	copy_paths__samples(&x->paths, copy, x->at);
	return 0;
}

int expand__stack_copy(struct expansions *e, const struct bpf_tables *t,
		       const struct stack_copy *copy, struct profile_accounting *a,
		       struct stack_copy **out)
{
	struct expanding x = {0};
	size_t most = 1;
	int err = 0;

	for (uint32_t i = 0; !err && i < copy->nodes_cnt; i++) {
		uint32_t stack = stack_of(t, copy->nodes[i].function);

		err = stack ? resolve(e, t, stack) : 0;
		most += stack && !err ? e->stacks[stack].cnt : 1;
	}
	if (err)
		return err;
	x.at = calloc(copy->nodes_cnt + 1, sizeof(*x.at));
	err = x.at ? copy_paths__init(&x.paths, copy, most, copy->samples_cnt) : -ENOMEM;
	if (!err)
		err = fill(e, t, copy, &x, a);
	copy_paths__fini(&x.paths);
	free(x.at);
	if (err)
		free(x.paths.to);
	else
		*out = x.paths.to;
	return err;
}

void expand__free(struct expansions *e, const struct bpf_tables *t)
{
	for (uint32_t i = 0; e->stacks && i < t->info.callers_cap; i++)
		free(e->stacks[i].functions);
	free(e->stacks);
	*e = (struct expansions){0};
}
