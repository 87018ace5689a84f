/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans: regions that one function begins and another one ends, after the first has returned. They
 * have no place on the stack, so nothing that is seen there closes them; but one is ended before
 * those around it. So a region of this kind has a call stack of its own beside each stack that it
 * is begun on, its base, where a begin pushes a frame and an end pops one. What lies in a span is
 * no callee of it: those have the stack's own call stack.
 *
 * Time that the stack waits, and what probes cost there, is noted on the stack's call stack alone.
 * A call stack of spans catches up with it at each of its events, as between two of them one span
 * is innermost.
 */
#ifndef PROFTRACE_SPANS_BPF_H
#define PROFTRACE_SPANS_BPF_H

#include "regions.bpf.h"

#define MAX_SPAN_CALLSTACKS 256 /* beside one stack */

/* Charges the cost of an event of spans to their base, and to its other call stacks of spans. */
static __always_inline void spans_pay(struct wire_callstack *base,
				      const struct wire_callstack *callstack)
{
	struct wire_frame *top = frame_at(base->top);

	if (top)
		frame_add_cost(top, callstack->probe_ns - base->probe_ns);
	base->probe_ns = callstack->probe_ns;
}

struct span_search {
	u32 function;
	u32 number; /* the call stack to look at */
	u32 before; /* the one that leads to it; 0: the base */
	u32 found;  /* the result */
};

static long span_seek(__attribute__((unused)) u32 i, struct span_search *s)
{
	const struct wire_callstack *callstack = callstack_at(s->number);

	if (!s->number || !callstack)
		return 1;
	if (callstack->function == s->function) {
		s->found = s->number;
		return 1;
	}
	s->before = s->number;
	s->number = callstack->spans;
	return 0;
}

static __always_inline u32 span_callstack_new(struct wire_callstack *base, u32 base_number,
					      u32 function)
{
	u32 number = callstack_new(base->owner, WIRE_CALLSTACK_SPANS);
	struct wire_callstack *callstack = callstack_at(number);

	if (!number || !callstack)
		return 0;
	callstack->made_ns = bpf_ktime_get_ns();
	callstack->start_ns = base->start_ns;
	callstack->goid = base->goid;
	callstack->function = function;
	callstack->off_ns = base->off_ns;
	callstack->probe_ns = base->probe_ns;
	callstack->spans = base->spans;
	barrier();
	*(volatile u32 *)&callstack->base = base_number;
	base->spans = number;
	return number;
}

/* The call stack of a region's spans beside another one, which is the thread's: made if `create`.
 * Moves to the front of its kind. 0: none, or no room. */
__noinline u32 span_callstack_find(u32 base_number, u32 function, u32 create)
{
	struct wire_callstack *base = callstack_at(base_number), *callstack, *before;
	struct span_search s = {.function = function};

	if (!base)
		return 0;
	s.number = base->spans;
	LOOP(MAX_SPAN_CALLSTACKS, span_seek, &s);
	if (!s.found)
		return create && !s.number ? span_callstack_new(base, base_number, function) : 0;
	callstack = callstack_at(s.found);
	before = callstack_at(s.before);
	if (s.before && before && callstack) {
		before->spans = callstack->spans;
		callstack->spans = base->spans;
		base->spans = s.found;
	}
	return s.found;
}

/* As span_callstack_find(), but looks at the call stack that was used last first. */
static __always_inline struct wire_callstack *span_callstack(const struct place *base, u32 function,
							     bool create, u32 *number)
{
	struct wire_callstack *callstack = callstack_at(base->callstack->spans);

	*number = base->callstack->spans;
	if (!*number || !callstack || callstack->function != function) {
		*number = span_callstack_find(base->number, function, create);
		callstack = callstack_at(*number);
	}
	return *number ? callstack : 0;
}

/* With triggers: whether a span with that role may begin, beside its stack's calls and in the spans
 * around it. */
static __always_inline bool span_may_begin(const struct place *base, const struct wire_frame *top,
					   u32 role)
{
	const struct wire_frame *call = frame_at(base->callstack->top);

	if (may_begin(role) || (top && top->level) || (call && call->level))
		return true;
	count_untriggered();
	return false;
}

/* A begin that is not recorded has an end as well, which is not to be taken for another one's. */
static __always_inline void span_pass(struct wire_callstack *callstack, u32 class, bool spared)
{
	const struct wire_cost *cost = cost_of(class);
	struct wire_frame *top = frame_at(callstack->top);
	s64 ns = cost->inside_ns + cost->outside_ns;

	callstack->passed++;
	if (top)
		frame_charge(callstack, top,
			     spared ? ns - cost_of(WIRE_COST_SPARED)->outside_ns : ns);
}

static __always_inline void span_begin(struct pt_regs *ctx, u64 cookie)
{
	const struct task_struct *task = current_task();
	u32 function = cookie & WIRE_COOKIE_FUNCTION;
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;
	u32 entry = WIRE_FRAME_REGION | class << (WIRE_COOKIE_COST - WIRE_COOKIE_FLAGS);
	const struct hit hit = {.ctx = ctx, .slot = stack_pointer(ctx)};
	struct place base, at;
	struct beginning span;
	struct wire_frame *top;
	struct arrival a;

	if (!entry_arrives(&a, task, stack_pointer(ctx), cookie) ||
	    !place_of(&base, task, a.thread_stack, a.number, stack_pointer(ctx), true))
		return;
	if (keep_values)
		entry |= ((cookie >> WIRE_COOKIE_VALUES) & 0xff) << WIRE_FRAME_LIST;
	at.callstack = span_callstack(&base, function, true, &at.number);
	if (!at.callstack) {
		count_lost(WIRE_LOST_CALLSTACKS);
		goto unlock;
	}
	spans_catch_up(base.number, at.number);
	at.slot = at.callstack->passed;
	top = frame_at(at.callstack->top);
	span = (struct beginning){&hit,	    function,	       entry | arrival_burst(&a),
				  a.weight, WIRE_ROLE_TRIGGER, 0};
	if (a.weight && span_may_begin(&base, top, a.role) && frame_push(&at, &span, top))
		at.callstack->passed = 0;
	else
		span_pass(at.callstack, class, !a.weight);
	spans_pay(base.callstack, at.callstack);
unlock:
	callstack_unlock(base.callstack);
}

/* A span ends, unless its begin was not recorded. */
static __always_inline void span_end(const struct pt_regs *ctx, u64 cookie, u64 now)
{
	const struct task_struct *task = current_task();
	u32 function = cookie & WIRE_COOKIE_FUNCTION, number;
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;
	struct wire_callstack *thread_stack, *callstack;
	struct wire_frame *top;
	struct place base;

	thread_stack = gate_is_open() ? thread_stack_current(task, false, &number) : 0;
	if (!thread_stack ||
	    hit_is_claimed(thread_stack, stack_pointer(ctx), function | REGION_END, cookie) ||
	    !place_of(&base, task, thread_stack, number, stack_pointer(ctx), false))
		return;
	callstack = span_callstack(&base, function, false, &number);
	if (!callstack) {
		end_charge(base.callstack, class);
		goto unlock;
	}
	spans_catch_up(base.number, number);
	top = frame_at(callstack->top);
	if (top && top->level && !callstack->passed) {
		callstack->passed = top->slot;
		frame_returned(callstack, top, now, class);
	} else {
		if (callstack->passed)
			callstack->passed--;
		end_charge(callstack, class);
	}
	spans_pay(base.callstack, callstack);
unlock:
	callstack_unlock(base.callstack);
}

#endif
