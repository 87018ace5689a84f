// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/loops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_WALKS 16 /* through a function */

struct loops {
	const struct code_piece *pieces;
	size_t pieces_cnt;
	const struct code_flow *flow;
	struct code_edge *leads; /* the flow's edges by `from` */
	size_t leads_cap;
	uint8_t *marks;
	size_t marks_size, marks_cap;
	bool marked;
	uint64_t *walk; /* vaddrs still to go to */
	size_t walk_cnt, walk_cap;
	unsigned walks;
};

int loops__new(struct loops **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void loops__free(struct loops *l)
{
	if (!l)
		return;
	free(l->leads);
	free(l->marks);
	free(l->walk);
	free(l);
}

void loops__look_at(struct loops *l, const struct code_piece *pieces, size_t cnt,
		    const struct code_flow *flow)
{
	l->pieces = pieces;
	l->pieces_cnt = cnt;
	l->flow = flow;
	l->marked = false;
	l->walks = 0;
}

static int compare_sources(const void *a, const void *b)
{
	const struct code_edge *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* By byte of the pieces. */
#define MARK_STOPS 1 /* control does not run on behind it */
#define MARK_JUMPS 2 /* it has edges */
#define MARK_SEEN  4 /* by the walk at hand */

/* The mark of the instruction at `vaddr`, and at *length how long it is; NULL: there is none. */
static uint8_t *mark_of(const struct loops *l, uint64_t vaddr, uint8_t *length)
{
	size_t before = 0;

	for (size_t i = 0; i < l->pieces_cnt; i++) {
		size_t at = before + (vaddr - l->pieces[i].vaddr);

		before += l->pieces[i].size;
		if (vaddr - l->pieces[i].vaddr >= l->pieces[i].size)
			continue;
		*length = l->flow->reached[at];
		return *length && *length != CODE_INSIDE ? &l->marks[at] : NULL;
	}
	return NULL;
}

/* Has marks for all of the function, unless it has them. Returns 0 or -ENOMEM. */
static int make_marks(struct loops *l)
{
	size_t size = 0;
	uint8_t length, *mark;

	if (l->marked)
		return 0;
	for (size_t i = 0; i < l->pieces_cnt; i++)
		size += l->pieces[i].size;
	if (ARRAY_RESERVE_MORE(&l->marks, 0, size, &l->marks_cap) ||
	    ARRAY_RESERVE_MORE(&l->leads, 0, l->flow->edges_cnt + 1, &l->leads_cap))
		return -ENOMEM;
	memset(l->marks, 0, size);
	for (size_t i = 0; i < l->flow->stops_cnt; i++) {
		mark = mark_of(l, l->flow->stops[i], &length);
		if (mark)
			*mark |= MARK_STOPS;
	}
	for (size_t i = 0; i < l->flow->edges_cnt; i++) {
		l->leads[i] = l->flow->edges[i];
		mark = mark_of(l, l->leads[i].from, &length);
		if (mark)
			*mark |= MARK_JUMPS;
	}
	qsort(l->leads, l->flow->edges_cnt, sizeof(*l->leads), compare_sources);
	l->marks_size = size;
	l->marked = true;
	return 0;
}

/* Notes where the instruction at `vaddr` jumps to. */
static int walk_jumps(struct loops *l, uint64_t vaddr)
{
	for (size_t i = LOWER_BOUND(l->flow->edges_cnt, k, l->leads[k].from < vaddr);
	     i < l->flow->edges_cnt && l->leads[i].from == vaddr; i++) {
		if (ARRAY_RESERVE(&l->walk, l->walk_cnt, &l->walk_cap))
			return -ENOMEM;
		l->walk[l->walk_cnt++] = l->leads[i].to;
	}
	return 0;
}

/* Whether control may come from the instruction at `vaddr` to it again: 1, 0 or -ENOMEM. */
static int comes_again(struct loops *l, uint64_t vaddr)
{
	uint64_t at = vaddr;
	uint8_t length, *mark;
	int err = make_marks(l);

	for (size_t i = 0; !err && i < l->marks_size; i++)
		l->marks[i] &= ~MARK_SEEN;
	l->walk_cnt = 0;
	while (!err) {
		mark = mark_of(l, at, &length);
		if (mark && !(*mark & MARK_SEEN)) {
			*mark |= MARK_SEEN;
			if (*mark & MARK_JUMPS)
				err = walk_jumps(l, at);
			if (!(*mark & MARK_STOPS)) {
				at += length;
				if (at == vaddr)
					return 1;
				continue;
			}
		}
		if (!l->walk_cnt)
			break;
		at = l->walk[--l->walk_cnt];
		if (at == vaddr)
			return 1;
	}
	return err;
}

/* Each round of a loop goes back, and all that lies in it lies under some way back. Only of what
 * does it is looked where it leads. */
bool loops__may_hold(struct loops *l, uint64_t vaddr)
{
	for (size_t i = 0; i < l->flow->edges_cnt; i++) {
		const struct code_edge *edge = &l->flow->edges[i];

		if (edge->to <= vaddr && vaddr <= edge->from)
			return l->walks++ >= MAX_WALKS || comes_again(l, vaddr);
	}
	return false;
}
