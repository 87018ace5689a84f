/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single calls (--calls): each finished one goes into a chunk of its call stack. Else none of this
 * is in the loaded programs. */
#ifndef PROFTRACE_CALLS_BPF_H
#define PROFTRACE_CALLS_BPF_H

#include "values.bpf.h"

const volatile bool keep_calls = false;
const volatile u32 chunks_cap = 0;
u32 next_chunk WRITTEN = 1;

static __always_inline struct wire_chunk *chunk_at(u32 i)
{
	return bpf_map_lookup_elem(&chunks, &i);
}

/* Gives the call stack a chunk to fill behind the one that it has. NULL: there is none. */
static __noinline struct wire_chunk *chunk_append(struct wire_callstack *callstack)
{
	u32 i = table_take(&free_chunks, &next_chunk, chunks_cap);
	struct wire_chunk *c = chunk_at(i), *last = chunk_at(callstack->chunk);

	if (!i || !c)
		return 0;
	c->next = c->cnt = 0;
	barrier();
	if (callstack->chunk && last)
		*(volatile u32 *)&last->next = i;
	else
		*(volatile u32 *)&callstack->first_chunk = i;
	callstack->chunk = i;
	return c;
}

static __always_inline void call_begins(const struct wire_callstack *callstack, u32 frame)
{
	struct wire_frame_rest *rest = keep_calls ? bpf_map_lookup_elem(&frame_rests, &frame) : 0;

	if (rest)
		rest->entered_off_ns = callstack->off_ns;
}

static __always_inline void call_ends(struct wire_callstack *callstack, u32 frame,
				      const struct wire_frame *f, u64 took, u64 callstack_off_ns)
{
	struct wire_frame_rest *rest;
	struct wire_chunk *c;
	u32 cnt, records;

	if (!keep_calls)
		return;
	records = values_records(frame, f->entry);
	c = chunk_at(callstack->chunk);
	if (!c || !callstack->chunk || c->cnt + records >= WIRE_CHUNK_CALLS)
		c = chunk_append(callstack);
	rest = bpf_map_lookup_elem(&frame_rests, &frame);
	cnt = c ? c->cnt : WIRE_CHUNK_CALLS;
	if (!c || !rest || cnt >= WIRE_CHUNK_CALLS) {
		TALLY(timeline_lost, 1);
		return;
	}
	c->calls[cnt].entered_ns = f->entered_ns;
	c->calls[cnt].took_ns = took;
	c->calls[cnt].off_ns = callstack_off_ns - rest->entered_off_ns;
	c->calls[cnt].node = f->node;
	c->calls[cnt].records = records;
	if (records)
		values_write(c, cnt + 1, frame, records);
	barrier();
	*(volatile u32 *)&c->cnt = cnt + 1 + records;
}

#endif
