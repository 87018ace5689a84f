/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans: regions that one function begins and another one ends, after the first has returned. They
 * have no place on the stack, so nothing that is seen there closes them; but one is ended before
 * those around it. So a region of this kind has a lane of its own beside each stack that it is
 * begun on, its base, where a begin pushes a frame and an end pops one. What lies in a span is no
 * callee of it: those have the stack's own lane.
 *
 * Time that the stack waits, and what probes cost there, is noted on the stack's lane alone. A lane
 * of spans catches up with it at each of its events, as between two of them one span is innermost.
 */
#ifndef PROFTRACE_SPANS_BPF_H
#define PROFTRACE_SPANS_BPF_H

#include "frames.bpf.h"

static __always_inline void spans_catch_up(const struct wire_lane *base, struct wire_lane *lane)
{
	struct wire_frame *top = frame_at(lane->top);
	struct wire_node *n = top ? node_at(top->node) : 0;

	if (n) {
		n->off_ns += (base->off_ns - lane->off_ns) * top->weight;
		frame_add_cost(top, base->probe_ns - lane->probe_ns);
	}
	lane->off_ns = base->off_ns;
	lane->probe_ns = base->probe_ns;
}

/* What an event of spans has cost is the same to their stack, and to other lanes beside that. */
static __always_inline void spans_pay(struct wire_lane *base, const struct wire_lane *lane)
{
	struct wire_frame *top = frame_at(base->top);

	if (top)
		frame_add_cost(top, lane->probe_ns - base->probe_ns);
	base->probe_ns = lane->probe_ns;
}

struct spans_walk {
	u64 now;
	u32 base;
	u32 number; /* the next lane */
};

/* Closes a frame, or goes on to the next lane. All in one loop: the verifier lets calls nest but so
 * deep. */
static long spans_unwind_one(__attribute__((unused)) u32 i, struct spans_walk *w)
{
	struct wire_lane *base = lane_at(w->base), *lane = lane_at(w->number);
	struct wire_frame *top = lane ? frame_at(lane->top) : 0;

	if (!w->number || !base || !lane || !top)
		return 1;
	if (top->level) {
		spans_catch_up(base, lane);
		frame_gone(lane, top, w->now);
		lane->probe_ns = base->probe_ns;
		return 0;
	}
	lane->passed = 0;
	w->number = lane->spans;
	return 0;
}

/* Closes all spans beside a lane. */
__noinline u32 spans_unwind(u32 base, u64 now)
{
	const struct wire_lane *lane = lane_at(base);
	struct spans_walk w = {.now = now, .base = base};

	if (!lane)
		return 0;
	w.number = lane->spans;
	bpf_loop(MAX_UNWIND, spans_unwind_one, &w, 0);
	return base;
}

/* Closes all that is open on a lane that nobody runs on, and beside it: it is gone without a trace.
 */
static __always_inline void unwind_all(u32 number, u64 now)
{
	const struct wire_lane *lane = has_regions ? lane_at(number) : 0;

	frames_unwind(number, ~0ull, now);
	if (lane && lane->spans)
		spans_unwind(number, now);
}

#endif
