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

#include "regions.bpf.h"

#define MAX_SPAN_LANES 256 /* beside one stack */

/* Charges the cost of an event of spans to their base, and to its other lanes of spans. */
static __always_inline void spans_pay(struct wire_lane *base, const struct wire_lane *lane)
{
	struct wire_frame *top = frame_at(base->top);

	if (top)
		frame_add_cost(top, lane->probe_ns - base->probe_ns);
	base->probe_ns = lane->probe_ns;
}

struct span_search {
	u32 function;
	u32 number; /* the lane to look at */
	u32 before; /* the one that leads to it; 0: the base */
	u32 found;  /* the result */
};

static long span_seek(__attribute__((unused)) u32 i, struct span_search *s)
{
	const struct wire_lane *lane = lane_at(s->number);

	if (!s->number || !lane)
		return 1;
	if (lane->function == s->function) {
		s->found = s->number;
		return 1;
	}
	s->before = s->number;
	s->number = lane->spans;
	return 0;
}

static __always_inline u32 span_lane_new(struct wire_lane *base, u32 base_number, u32 function)
{
	u32 number = lane_new(base->owner, WIRE_LANE_SPANS);
	struct wire_lane *lane = lane_at(number);

	if (!number || !lane)
		return 0;
	lane->made_ns = bpf_ktime_get_ns();
	lane->start_ns = base->start_ns;
	lane->goid = base->goid;
	lane->function = function;
	lane->off_ns = base->off_ns;
	lane->probe_ns = base->probe_ns;
	lane->spans = base->spans;
	barrier();
	*(volatile u32 *)&lane->base = base_number;
	base->spans = number;
	return number;
}

/* The lane of a region's spans beside another one, which is the thread's: made if `create`. Moves
 * to the front of its kind. 0: none, or no room. */
__noinline u32 span_lane_find(u32 base_number, u32 function, u32 create)
{
	struct wire_lane *base = lane_at(base_number), *lane, *before;
	struct span_search s = {.function = function};

	if (!base)
		return 0;
	s.number = base->spans;
	LOOP(MAX_SPAN_LANES, span_seek, &s);
	if (!s.found)
		return create && !s.number ? span_lane_new(base, base_number, function) : 0;
	lane = lane_at(s.found);
	before = lane_at(s.before);
	if (s.before && before && lane) {
		before->spans = lane->spans;
		lane->spans = base->spans;
		base->spans = s.found;
	}
	return s.found;
}

/* As span_lane_find(), but looks at the lane that was used last first. */
static __always_inline struct wire_lane *span_lane(const struct place *base, u32 function,
						   bool create, u32 *number)
{
	struct wire_lane *lane = lane_at(base->lane->spans);

	*number = base->lane->spans;
	if (!*number || !lane || lane->function != function) {
		*number = span_lane_find(base->number, function, create);
		lane = lane_at(*number);
	}
	return *number ? lane : 0;
}

/* With triggers: whether a span with that role may begin, beside its stack's calls and in the spans
 * around it. */
static __always_inline bool span_may_begin(const struct place *base, const struct wire_frame *top,
					   u32 role)
{
	const struct wire_frame *call = frame_at(base->lane->top);

	if (may_begin(role) || (top && top->level) || (call && call->level))
		return true;
	count_untriggered();
	return false;
}

/* A begin that is not recorded has an end as well, which is not to be taken for another one's. */
static __always_inline void span_pass(struct wire_lane *lane, u32 class, bool spared)
{
	const struct wire_cost *cost = cost_of(class);
	struct wire_frame *top = frame_at(lane->top);
	s64 ns = cost->inside_ns + cost->outside_ns;

	lane->passed++;
	if (top)
		frame_charge(lane, top, spared ? ns - cost_of(WIRE_COST_SPARED)->outside_ns : ns);
}

static __always_inline void span_begin(struct pt_regs *ctx, u64 cookie)
{
	const struct task_struct *task = current_task();
	u32 function = cookie & WIRE_COOKIE_FUNCTION;
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;
	u32 entry = WIRE_FRAME_REGION | class << (WIRE_COOKIE_COST - WIRE_COOKIE_FLAGS);
	const struct hit hit = {.ctx = ctx, .slot = stack_pointer(ctx)};
	struct place base, at;
	struct wire_frame *top;
	struct arrival a;
	u64 began;

	if (!entry_arrives(&a, task, stack_pointer(ctx), cookie) ||
	    !place_of(&base, task, a.home, a.number, stack_pointer(ctx), true))
		return;
	if (keep_values)
		entry |= ((cookie >> WIRE_COOKIE_VALUES) & 0xff) << WIRE_FRAME_LIST;
	at.lane = span_lane(&base, function, true, &at.number);
	if (!at.lane) {
		count_lost(WIRE_LOST_LANES);
		goto unlock;
	}
	spans_catch_up(base.number, at.number);
	at.slot = at.lane->passed;
	top = frame_at(at.lane->top);
	began = WIRE_TIMED(at.lane->entered) < timed_limit ? bpf_ktime_get_ns() : 0;
	if (a.weight && span_may_begin(&base, top, a.role) &&
	    frame_push(&at, &hit, top, function, entry, a.weight, WIRE_ROLE_TRIGGER, began))
		at.lane->passed = 0;
	else
		span_pass(at.lane, class, !a.weight);
	spans_pay(base.lane, at.lane);
unlock:
	lane_unlock(base.lane);
}

/* A span ends, unless its begin was not recorded. */
static __always_inline void span_end(const struct pt_regs *ctx, u64 cookie, u64 now)
{
	const struct task_struct *task = current_task();
	u32 function = cookie & WIRE_COOKIE_FUNCTION, number;
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;
	struct wire_lane *home, *lane;
	struct wire_frame *top;
	struct place base;

	home = gate_open ? home_current(task, false, &number) : 0;
	if (!home || hit_is_claimed(home, stack_pointer(ctx), function | REGION_END, cookie) ||
	    !place_of(&base, task, home, number, stack_pointer(ctx), false))
		return;
	lane = span_lane(&base, function, false, &number);
	if (!lane) {
		end_charge(base.lane, class);
		goto unlock;
	}
	spans_catch_up(base.number, number);
	top = frame_at(lane->top);
	if (top && top->level && !lane->passed) {
		lane->passed = top->slot;
		frame_returned(lane, top, now, class);
	} else {
		if (lane->passed)
			lane->passed--;
		end_charge(lane, class);
	}
	spans_pay(base.lane, lane);
unlock:
	lane_unlock(base.lane);
}

#endif
