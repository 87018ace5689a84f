// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/seeds.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/expand.h"
#include "collect/sample_store.h"
#include "tables/bpf_tables.h"
#include "tables/stack_copy.h"

int seeds__init(struct seeds *s, const struct bpf_tables *t)
{
	if (!t->seeds)
		return 0;
	s->shown = calloc(t->info.seeds_cap / 2, sizeof(*s->shown));
	return s->shown ? 0 : -ENOMEM;
}

void seeds__fini(struct seeds *s)
{
	free(s->shown);
	*s = (struct seeds){0};
}

/* The seed of a path that stands for one; NULL: it is a function's. */
static const struct wire_seed *seed_of(const struct bpf_tables *t, uint32_t function)
{
	uint32_t seed = WIRE_NODE_SEED_OF(function);

	return function & WIRE_NODE_SEED && !(function & WIRE_NODE_CALLERS) &&
			       seed < t->info.seeds_cap / 2
		       ? &t->seeds[seed * 2]
		       : NULL;
}

/* A copy on its way. */
struct seeding {
	struct seeds *s;
	const struct expansions *e;
	const struct bpf_tables *t;
	const struct function_probes *probes;
	uint32_t probes_cnt;
	const struct stack_copy *from;
	struct copy_paths paths;
	uint32_t *at; /* by node of the old copy: where it is in the new one, STACK_COPY_ROOT */
};

/* The innermost frame of the seed that its paths are to have in common. */
static uint32_t shown_first(const struct seeding *x, uint32_t seed, const struct wire_seed *w)
{
	struct seed_shown *shown = &x->s->shown[seed];

	if (shown->lives != w->lives || !x->s->keep_paths)
		*shown = (struct seed_shown){w->lives, w->first};
	return shown->first;
}

/* The functions of a frame: its own, and those that were inlined where it has called on, the
 * outermost first. Of frames up to the innermost one that stays its own alone, as that may call
 * from elsewhere by now. */
static int functions_of(const struct seeding *x, const struct wire_seed *w, uint32_t frame,
			uint32_t stays, uint32_t functions[CODE_FUNCTIONS], size_t *cnt)
{
	struct code_place at =
		code_place(x->from->pid, w->frames[frame % WIRE_SEED_FRAMES].function);

	/* An instruction, not a return address. */
	at.vaddr += !w->frames[frame % WIRE_SEED_FRAMES].slot;
	*cnt = 1;
	return x->s->inlined && frame > stays
		       ? sample_store__functions_at(x->s->inlined, &at, functions, cnt)
		       : x->e->resolve(&at, functions, x->e->ctx);
}

/* Whether the frames from `first` on are kept. */
static bool has_frames(const struct wire_seed *w, uint32_t first)
{
	return w->cnt <= WIRE_SEED_DEPTH &&
	       (w->cnt <= WIRE_SEED_FRAMES || first >= w->cnt - WIRE_SEED_FRAMES);
}

/* Adds the frames of a seed. *at = the path of the innermost one. */
static int put_seed(struct seeding *x, uint32_t node, const struct wire_seed *w, uint32_t *at)
{
	uint32_t first = WIRE_NODE_SEED_FIRST(node), functions[CODE_FUNCTIONS];
	uint32_t stays = shown_first(x, WIRE_NODE_SEED_OF(node), w);
	size_t cnt;

	*at = STACK_COPY_ROOT;
	if (!has_frames(w, first))
		return 0;
	for (uint32_t i = w->cnt; i-- > first;) {
		int err = functions_of(x, w, i, first > stays ? first : stays, functions, &cnt);

		if (err)
			return err;
		if (i < stays && (functions[0] >= x->probes_cnt || !x->probes[functions[0]].entry))
			break;
		for (size_t k = 0; k < cnt; k++)
			*at = copy_paths__node(&x->paths, *at, functions[k]);
	}
	return 0;
}

/* Adds to *most how many nodes the frames of a seed may take. */
static int count_seed(const struct seeding *x, uint32_t node, const struct wire_seed *w,
		      size_t *most)
{
	uint32_t first = WIRE_NODE_SEED_FIRST(node), functions[CODE_FUNCTIONS];
	size_t cnt;

	for (uint32_t i = first; has_frames(w, first) && i < w->cnt; i++) {
		int err = functions_of(x, w, i, first, functions, &cnt);

		if (err)
			return err;
		*most += cnt;
	}
	return 0;
}

static int put_nodes(struct seeding *x)
{
	const struct stack_copy *from = x->from;
	int err = 0;

	for (uint32_t i = 0; !err && i < from->nodes_cnt; i++) {
		const struct stack_copy_node *n = &from->nodes[i];
		const struct wire_seed *w = seed_of(x->t, n->function);
		uint32_t parent = STACK_COPY_ROOT;

		if (n->parent != STACK_COPY_ROOT && n->parent >= i)
			return -EINVAL;
		if (n->parent != STACK_COPY_ROOT)
			parent = x->at[n->parent];
		if (w) {
			err = put_seed(x, n->function, w, &x->at[i]);
			x->paths.to->outside_ns += n->probe_ns;
		} else {
			x->at[i] = copy_paths__node(&x->paths, parent, n->function);
			copy_paths__add(&x->paths, x->at[i], n);
		}
	}
	if (!err)
		copy_paths__samples(&x->paths, from, x->at);
	return err;
}

int seeds__expand(struct seeds *s, const struct expansions *e, const struct bpf_tables *t,
		  const struct function_probes *probes, uint32_t cnt, struct stack_copy **copy)
{
	struct seeding x = {s, e, t, probes, probes ? cnt : 0, *copy, {0}, NULL};
	size_t most = 1;
	bool any = false;
	int err = 0;

	if (!s->shown || !*copy || !e->resolve)
		return 0;
	for (uint32_t i = 0; !err && i < (*copy)->nodes_cnt; i++) {
		uint32_t node = (*copy)->nodes[i].function;
		const struct wire_seed *w = seed_of(t, node);

		any |= w != NULL;
		err = w ? count_seed(&x, node, w, &most) : 0;
		most += !w;
	}
	if (err || !any)
		return err;
	x.at = calloc((*copy)->nodes_cnt, sizeof(*x.at));
	err = x.at ? copy_paths__init(&x.paths, *copy, most, (*copy)->samples_cnt) : -ENOMEM;
	if (!err)
		err = put_nodes(&x);
	copy_paths__fini(&x.paths);
	free(x.at);
	if (err) {
		free(x.paths.to);
		return err;
	}
	free(*copy);
	*copy = x.paths.to;
	return 0;
}
