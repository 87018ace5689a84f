// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/sample_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

static size_t first_place(const struct sample_tree *t, const struct sample_tree_node *n)
{
	uint64_t hash = ((uint64_t)n->base << 32 | n->parent) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ n->function) * 0x9e3779b97f4a7c15ull;
	return (hash >> 32) & (t->index_size - 1);
}

static int same(const struct sample_tree_node *a, const struct sample_tree_node *b)
{
	return a->base == b->base && a->parent == b->parent && a->function == b->function;
}

/* The place of a node in the index, or the free one for it. */
static uint32_t *place_of(struct sample_tree *t, const struct sample_tree_node *n)
{
	for (size_t i = first_place(t, n);; i = (i + 1) & (t->index_size - 1)) {
		uint32_t at = t->index[i];

		if (!at || same(&t->nodes[at - 1], n))
			return &t->index[i];
	}
}

static int grow_index(struct sample_tree *t)
{
	size_t size = t->index_size ? t->index_size * 2 : 64;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(t->index);
	t->index = index;
	t->index_size = size;
	for (size_t i = 0; i < t->cnt; i++)
		*place_of(t, &t->nodes[i]) = i + 1;
	return 0;
}

/* *at = the index of the node, plus 1; made if need be. */
static int node_of(struct sample_tree *t, const struct sample_tree_node *n, uint32_t *at)
{
	uint32_t *place;

	if (t->index_size <= t->cnt * 2 && grow_index(t))
		return -ENOMEM;
	place = place_of(t, n);
	if (!*place) {
		if (ARRAY_RESERVE(&t->nodes, t->cnt, &t->cap))
			return -ENOMEM;
		t->nodes[t->cnt] = *n;
		*place = ++t->cnt;
	}
	*at = *place;
	return 0;
}

int sample_tree__add(struct sample_tree *t, const struct sample_place *place,
		     const struct sample_figures *more)
{
	struct sample_tree_node n = {.base = place->base, .function = SAMPLE_TREE_SELF};
	uint32_t at = 0;
	int err = place->cnt ? 0 : node_of(t, &n, &at);

	for (size_t i = 0; !err && i < place->cnt; i++) {
		n.parent = at;
		n.function = place->functions[i];
		err = node_of(t, &n, &at);
	}
	if (err)
		return err;
	t->nodes[at - 1].samples += more->samples;
	t->nodes[at - 1].ns += more->ns;
	t->nodes[at - 1].off_ns += more->off_ns;
	return 0;
}

void sample_tree__fini(struct sample_tree *t)
{
	free(t->nodes);
	free(t->index);
	*t = (struct sample_tree){0};
}
