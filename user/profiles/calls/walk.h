/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks call paths depth first without a stack of any kind: nodes know their parents, and paths may
 * be 100,000 calls deep. Each node comes twice, on the way down and on the way up. Needs a linked
 * profile.
 *
 *	struct walk w = walk__from(p, thread->first_root);
 *
 *	while (walk__next(&w))
 *		if (w.entering)
 *			... w.node ... w.depth ...
 */
#ifndef PROFTRACE_CALLS_WALK_H
#define PROFTRACE_CALLS_WALK_H

#include "calls/profile.h"

struct walk {
	const struct profile_node *nodes;
	uint32_t first;
	uint32_t node;
	uint32_t depth; /* 0: `first` and its siblings */
	bool entering;	/* false: all below the node has been seen */
};

/* Visits `first`, its later siblings, and all below them; 0 visits nothing. */
static inline struct walk walk__from(const struct profile *p, uint32_t first)
{
	return (struct walk){.nodes = p->nodes, .first = first};
}

static inline bool walk__next(struct walk *w)
{
	const struct profile_node *n;

	if (!w->node) {
		w->node = w->first;
		w->entering = true;
		return w->node;
	}
	n = &w->nodes[w->node];
	if (w->entering && n->first_child) {
		w->node = n->first_child;
		w->depth++;
	} else if (w->entering) {
		w->entering = false;
	} else if (n->next_sibling) {
		w->node = n->next_sibling;
		w->entering = true;
	} else if (w->depth) {
		w->node = n->parent;
		w->depth--;
	} else {
		return false;
	}
	return true;
}

#endif
