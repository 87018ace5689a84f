/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_VIEWS_COMPACT_H
#define PROFTRACE_VIEWS_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/profile.h"

/* Leaves out all nodes but those that keep[] marks, in place and in their order. With a node its
 * parent must be kept, wherever that stands. numbers[] is room for one a node: afterwards what each
 * has become, or 0. Links are to be made anew. */
static inline void compact_nodes(struct profile *p, const bool *keep, uint32_t *numbers)
{
	struct profile_node *nodes = p->nodes;
	size_t i, cnt = 1;

	numbers[0] = 0;
	for (i = 1; i < p->nodes_cnt; i++)
		numbers[i] = keep[i] ? cnt++ : 0;
	for (i = 1; i < p->nodes_cnt; i++) {
		if (!keep[i])
			continue;
		nodes[numbers[i]] = nodes[i];
		nodes[numbers[i]].parent = numbers[nodes[i].parent];
	}
	if (p->nodes_cnt)
		p->nodes_cnt = cnt;
}

#endif
