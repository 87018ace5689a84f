// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls that are in order of their ends are a forest in post-order: a call and all that it has
 * called are neighbours, itself the last. In pre-order the same ones are in the same places, but
 * the call is the first, and the others have moved on by one. So a call's new place is where its
 * own calls began, moved on by one for each call around it.
 */
#include "record/calls/preorder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "timeline/timeline.h"

/* starts[i] = the first call of those that are in i. The one before is the last of its own. */
static void find_starts(const struct timeline_call *calls, uint32_t cnt, uint32_t *starts)
{
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t start = i;

		while (start && calls[start - 1].enter_ns >= calls[i].enter_ns)
			start = starts[start - 1];
		starts[i] = start;
	}
}

static void place(const uint32_t *starts, uint32_t cnt, uint32_t *around, uint32_t *order)
{
	uint32_t depth = 0;

	for (uint32_t i = cnt; i--;) {
		while (depth && around[depth - 1] > i)
			depth--;
		order[starts[i] + depth] = i;
		around[depth++] = starts[i];
	}
}

static bool is_sorted(const struct timeline_call *calls, uint32_t cnt, const uint32_t *order)
{
	for (uint32_t i = 1; i < cnt; i++) {
		if (calls[order[i]].enter_ns < calls[order[i - 1]].enter_ns)
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b, void *calls)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct timeline_call *x = (const struct timeline_call *)calls + i;
	const struct timeline_call *y = (const struct timeline_call *)calls + j;

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	if (x->leave_ns != y->leave_ns)
		return x->leave_ns > y->leave_ns ? -1 : 1;
	return i > j ? -1 : i < j;
}

void preorder__of(const struct timeline_call *calls, uint32_t cnt, uint32_t *order,
		  uint32_t *scratch)
{
	find_starts(calls, cnt, scratch);
	place(scratch, cnt, scratch + cnt, order);
	if (!is_sorted(calls, cnt, order))
		qsort_r(order, cnt, sizeof(*order), compare, (void *)calls);
}
