/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Closing frames: the only places where a call ends, each counted once. */
#ifndef PROFTRACE_FRAMES_BPF_H
#define PROFTRACE_FRAMES_BPF_H

#include "tables.bpf.h"

#define MAX_UNWIND (1 << 22) /* frames closed at one event */

/* Takes the innermost frame off and adds its time to its path and to its caller's. */
static __always_inline u64 frame_close(struct wire_lane *lane, struct wire_frame *f, u64 now)
{
	u64 took = now > f->entered_ns ? now - f->entered_ns : 0;
	struct wire_frame *caller = frame_at(f->up);
	struct wire_node *n = node_at(f->node);

	lane->top = f->up;
	if (caller)
		caller->child_ns += took;
	if (n && took > f->child_ns)
		n->self_ns += took - f->child_ns;
	return took;
}

static __always_inline void frame_returned(struct wire_lane *lane, struct wire_frame *f, u64 now)
{
	struct wire_node *n = node_at(f->node);
	u64 took = frame_close(lane, f, now);

	lane->returned++;
	if (!n)
		return;
	if (!took)
		took = 1;
	if (!n->min_ns || took < n->min_ns)
		n->min_ns = took;
	if (took > n->max_ns)
		n->max_ns = took;
}

struct unwind_ctx {
	struct wire_lane *lane;
	u64 slot, now;
};

static long unwind_one(__attribute__((unused)) u32 i, struct unwind_ctx *ctx)
{
	struct wire_frame *f = frame_at(ctx->lane->top);

	if (!f || f->slot >= ctx->slot)
		return 1;
	frame_close(ctx->lane, f, ctx->now);
	ctx->lane->unwound++;
	return 0;
}

/* Closes all frames below `slot`; returns the innermost one left. */
static __always_inline struct wire_frame *unwind_below(struct wire_lane *lane,
						       struct wire_frame *top, u64 slot, u64 now)
{
	struct unwind_ctx ctx = {.lane = lane, .slot = slot, .now = now};

	if (top->slot >= slot)
		return top;
	bpf_loop(MAX_UNWIND, unwind_one, &ctx, 0);
	return frame_at(lane->top);
}

/* Closes all frames of a lane that nobody runs on: they are gone without a trace. */
__noinline u32 unwind_all(u32 number, u64 now)
{
	struct wire_lane *lane = lane_at(number);
	struct wire_frame *top = lane ? frame_at(lane->top) : 0;

	if (!lane || !top)
		return 0;
	unwind_below(lane, top, ~0ull, now);
	return number;
}

#endif
