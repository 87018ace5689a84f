// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline is read lane by lane, so blocks are to hold calls of one lane, and many. But calls
 * must not wait for long, and of ten thousand lanes each has a few only; those share blocks, which
 * are small then, as each is read once for every lane in it.
 */
#include "record/gather.h"

#include <errno.h>
#include <string.h>

#include "calls/timeline.h"
#include "record/call_block.h"
#include "util/array.h"

#define ROOM_MAX     (512u << 10) /* calls: 16 MiB */
#define FEW	     128	  /* calls, which do not get a block of their own */
#define SHARED_CALLS 1024	  /* in a block of several lanes */

_Static_assert(FEW <= SHARED_CALLS && SHARED_CALLS <= CALL_BLOCK_CALLS, "blocks hold them");

static int make_room(struct gather *g, struct gather_lane *l, size_t cnt)
{
	size_t cap = l->cap;

	if (ARRAY_RESERVE_MORE(&l->calls, l->cnt, cnt, &cap))
		return -ENOMEM;
	g->room += cap - l->cap;
	l->cap = cap;
	return 0;
}

ssize_t gather__add(struct gather *g, uint32_t lane, const struct timeline_call *calls, size_t cnt)
{
	size_t before = g->lanes_cap;
	struct gather_lane *l;

	if (ARRAY_RESERVE(&g->lanes, (size_t)lane, &g->lanes_cap) ||
	    ARRAY_RESERVE(&g->filled, g->filled_cnt, &g->filled_cap))
		return -ENOMEM;
	if (g->lanes_cap > before)
		memset(&g->lanes[before], 0, (g->lanes_cap - before) * sizeof(*g->lanes));
	l = &g->lanes[lane];
	if (cnt > CALL_BLOCK_CALLS - l->cnt)
		cnt = CALL_BLOCK_CALLS - l->cnt;
	if (!l->cap)
		g->filled[g->filled_cnt++] = lane;
	if (make_room(g, l, cnt)) {
		g->filled_cnt -= !l->cap;
		return -ENOMEM;
	}
	memcpy(l->calls + l->cnt, calls, cnt * sizeof(*calls));
	l->cnt += cnt;
	return cnt;
}

bool gather__too_many(const struct gather *g)
{
	return g->room > ROOM_MAX;
}

bool gather__full(const struct gather *g, uint32_t lane)
{
	return g->lanes[lane].cnt == CALL_BLOCK_CALLS;
}

/* What goes into one block. */
struct batch {
	struct call_segment segments[CALL_BLOCK_SEGMENTS];
	size_t cnt, calls;
	gather_writer write;
	void *ctx;
};

static int batch_write(struct batch *b)
{
	int err = b->cnt ? b->write(b->ctx, b->segments, b->cnt) : 0;

	b->cnt = b->calls = 0;
	return err;
}

static int batch_add(struct batch *b, uint32_t lane, const struct gather_lane *l)
{
	const struct call_segment segment = {lane, l->cnt, l->calls};
	int err = 0;

	if (l->cnt >= FEW)
		return b->write(b->ctx, &segment, 1);
	if (b->cnt == CALL_BLOCK_SEGMENTS || b->calls + l->cnt > SHARED_CALLS)
		err = batch_write(b);
	b->segments[b->cnt++] = segment;
	b->calls += l->cnt;
	return err;
}

static void forget(struct gather *g, struct gather_lane *l)
{
	g->room -= l->cap;
	free(l->calls);
	*l = (struct gather_lane){0};
}

static int compare_lanes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Those of lanes that have room for so many at least. In the order of lanes, so that it is the same
 * ones that share blocks each time. */
static int write_from(struct gather *g, size_t least, gather_writer write, void *ctx)
{
	struct batch b = {.write = write, .ctx = ctx};
	size_t kept = 0;
	int err = 0;

	if (g->filled_cnt)
		qsort(g->filled, g->filled_cnt, sizeof(*g->filled), compare_lanes);
	for (size_t i = 0; i < g->filled_cnt && !err; i++) {
		const struct gather_lane *l = &g->lanes[g->filled[i]];

		if (l->cnt && l->cap >= least)
			err = batch_add(&b, g->filled[i], l);
	}
	if (!err)
		err = batch_write(&b);
	for (size_t i = 0; i < g->filled_cnt; i++) {
		struct gather_lane *l = &g->lanes[g->filled[i]];

		if (l->cap >= least)
			forget(g, l);
		else
			g->filled[kept++] = g->filled[i];
	}
	g->filled_cnt = kept;
	return err;
}

/* The memory stays: more calls are likely. */
int gather__write_lane(struct gather *g, uint32_t lane, gather_writer write, void *ctx)
{
	struct gather_lane *l = &g->lanes[lane];
	const struct call_segment segment = {lane, l->cnt, l->calls};

	l->cnt = 0;
	return write(ctx, &segment, 1);
}

/* What is below half of the mean is less than half of all. */
int gather__write_most(struct gather *g, gather_writer write, void *ctx)
{
	return write_from(g, g->filled_cnt ? g->room / g->filled_cnt / 2 : 0, write, ctx);
}

int gather__write_all(struct gather *g, gather_writer write, void *ctx)
{
	return write_from(g, 0, write, ctx);
}

void gather__fini(struct gather *g)
{
	for (size_t i = 0; i < g->filled_cnt; i++)
		free(g->lanes[g->filled[i]].calls);
	free(g->lanes);
	free(g->filled);
	*g = (struct gather){0};
}
