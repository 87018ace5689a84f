// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline is read call stack by call stack, so blocks are to hold calls of one call stack, and
 * many. But calls must not wait for long, and of ten thousand call stacks each has a few only;
 * those share blocks, which are small then, as each is read once for every call stack in it.
 */
#include "record/calls/gather.h"

#include <errno.h>
#include <string.h>

#include "calls/values.h"
#include "record/calls/call_block.h"
#include "timeline/timeline.h"
#include "util/array.h"

#define ROOM_MAX     (512u << 10) /* calls: 24 MiB */
#define VALUES_MAX   (32u << 20)  /* bytes of values */
#define FEW	     128	  /* calls, which do not get a block of their own */
#define SHARED_CALLS 1024	  /* in a block of several call stacks */

_Static_assert(FEW <= SHARED_CALLS && SHARED_CALLS <= CALL_BLOCK_CALLS, "blocks hold them");

static int make_room(struct gather *g, struct gather_callstack *l, size_t cnt)
{
	size_t cap = l->cap;

	if (ARRAY_RESERVE_MORE(&l->calls, l->cnt, cnt, &cap))
		return -ENOMEM;
	g->room += cap - l->cap;
	l->cap = cap;
	return 0;
}

/* Bytes that the call's values take in a block, at most; 0 if they are longer than any value that
 * is read. */
static uint32_t size_of_values(const struct timeline_call *call)
{
	size_t size = 0;

	for (uint32_t i = 0; i < call->values_cnt && size <= CALL_VALUES_SIZE; i++)
		size += call_block__value_size(&call->values[i]);
	return size <= CALL_VALUES_SIZE ? size : 0;
}

/* Takes one call, and a copy of its values. */
static int take(struct gather *g, struct gather_callstack *l, const struct timeline_call *call)
{
	struct timeline_call *kept = &l->calls[l->cnt];
	uint32_t size = size_of_values(call);

	*kept = *call;
	kept->values = NULL;
	kept->values_cnt = 0;
	if (size) {
		kept->values = call_values__copy(call->values, call->values_cnt);
		if (!kept->values)
			return -ENOMEM;
		kept->values_cnt = call->values_cnt;
		l->values_size += size;
		g->values_size += size;
	}
	l->cnt++;
	return 0;
}

static void drop_calls(struct gather *g, struct gather_callstack *l)
{
	g->values_size -= l->values_size;
	for (uint32_t i = 0; i < l->cnt && l->values_size; i++)
		free((void *)l->calls[i].values);
	l->cnt = l->values_size = 0;
}

static bool is_full(const struct gather_callstack *l)
{
	return l->cnt == CALL_BLOCK_CALLS || l->values_size > CALL_BLOCK_VALUES - CALL_VALUES_SIZE;
}

ssize_t gather__add(struct gather *g, uint32_t callstack, const struct timeline_call *calls,
		    size_t cnt)
{
	size_t before = g->callstacks_cap;
	struct gather_callstack *l;

	if (ARRAY_RESERVE(&g->callstacks, (size_t)callstack, &g->callstacks_cap) ||
	    ARRAY_RESERVE(&g->filled, g->filled_cnt, &g->filled_cap))
		return -ENOMEM;
	if (g->callstacks_cap > before)
		memset(&g->callstacks[before], 0,
		       (g->callstacks_cap - before) * sizeof(*g->callstacks));
	l = &g->callstacks[callstack];
	if (cnt > CALL_BLOCK_CALLS - l->cnt)
		cnt = CALL_BLOCK_CALLS - l->cnt;
	if (!l->cap)
		g->filled[g->filled_cnt++] = callstack;
	if (make_room(g, l, cnt)) {
		g->filled_cnt -= !l->cap;
		return -ENOMEM;
	}
	for (size_t i = 0; i < cnt; i++) {
		if (is_full(l))
			return i;
		if (take(g, l, &calls[i]))
			return -ENOMEM;
	}
	return cnt;
}

bool gather__too_many(const struct gather *g)
{
	return g->room > ROOM_MAX || g->values_size > VALUES_MAX;
}

bool gather__full(const struct gather *g, uint32_t callstack)
{
	return is_full(&g->callstacks[callstack]);
}

/* The calls that go into one block. */
struct batch {
	struct call_segment segments[CALL_BLOCK_SEGMENTS];
	size_t cnt, calls, values_size;
	gather_writer write;
	void *ctx;
};

static int batch_write(struct batch *b)
{
	int err = b->cnt ? b->write(b->ctx, b->segments, b->cnt) : 0;

	b->cnt = b->calls = b->values_size = 0;
	return err;
}

static int batch_add(struct batch *b, uint32_t callstack, const struct gather_callstack *l)
{
	const struct call_segment segment = {callstack, l->cnt, l->calls};
	int err = 0;

	if (l->cnt >= FEW)
		return b->write(b->ctx, &segment, 1);
	if (b->cnt == CALL_BLOCK_SEGMENTS || b->calls + l->cnt > SHARED_CALLS ||
	    b->values_size + l->values_size > CALL_BLOCK_VALUES)
		err = batch_write(b);
	b->segments[b->cnt++] = segment;
	b->calls += l->cnt;
	b->values_size += l->values_size;
	return err;
}

static void forget(struct gather *g, struct gather_callstack *l)
{
	g->room -= l->cap;
	drop_calls(g, l);
	free(l->calls);
	*l = (struct gather_callstack){0};
}

static int compare_callstacks(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Writes the calls of call stacks that have room for `least` calls or more. In the order of call
 * stacks, so that each time the same ones share blocks. */
static int write_from(struct gather *g, size_t least, gather_writer write, void *ctx)
{
	struct batch b = {.write = write, .ctx = ctx};
	size_t kept = 0;
	int err = 0;

	if (g->filled_cnt)
		qsort(g->filled, g->filled_cnt, sizeof(*g->filled), compare_callstacks);
	for (size_t i = 0; i < g->filled_cnt && !err; i++) {
		const struct gather_callstack *l = &g->callstacks[g->filled[i]];

		if (l->cnt && l->cap >= least)
			err = batch_add(&b, g->filled[i], l);
	}
	if (!err)
		err = batch_write(&b);
	for (size_t i = 0; i < g->filled_cnt; i++) {
		struct gather_callstack *l = &g->callstacks[g->filled[i]];

		if (l->cap >= least)
			forget(g, l);
		else
			g->filled[kept++] = g->filled[i];
	}
	g->filled_cnt = kept;
	return err;
}

/* The memory stays: more calls are likely. */
int gather__write_callstack(struct gather *g, uint32_t callstack, gather_writer write, void *ctx)
{
	struct gather_callstack *l = &g->callstacks[callstack];
	const struct call_segment segment = {callstack, l->cnt, l->calls};
	int err = write(ctx, &segment, 1);

	drop_calls(g, l);
	return err;
}

/* Call stacks below half of the mean have less than half of all calls. */
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
		forget(g, &g->callstacks[g->filled[i]]);
	free(g->callstacks);
	free(g->filled);
	*g = (struct gather){0};
}
