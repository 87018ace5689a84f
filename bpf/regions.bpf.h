/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions: stretches of code between probes of their own, and marks, which are calls that have
 * returned at once.
 *
 * A region's slot is that of its function less one, by the unwind tables; where these tell nothing,
 * it is one below the stack pointer where it begins. So its frame lies below that of its function
 * and above those of all that is called in it; and it is gone, as any frame is, once the function
 * is. Regions that are nested in one function may have one slot. Only where the tables tell nothing
 * does it matter how much a function keeps on its stack from moment to moment.
 */
#ifndef PROFTRACE_REGIONS_BPF_H
#define PROFTRACE_REGIONS_BPF_H

#include "trace.bpf.h"

#define REGION_REACH 128 /* frames that lie between a region and its end in a callee, at most */
#define REGION_END   (1u << 31) /* tells an end's hit from a begin's: see hit_is_claimed() */

#define REGION_FAR (64u << 20) /* a function's frame is smaller */

/* Where a region begins or ends: the slot of its frame, and that below which nothing is open. */
struct region_place {
	u64 slot, live;
};

static __always_inline struct region_place region_place(const struct pt_regs *ctx, u64 cookie)
{
	u64 up = ((cookie >> WIRE_COOKIE_DELTA) & WIRE_REGION_MAX_UP) * 8;
	u32 flags = cookie >> WIRE_COOKIE_FLAGS;
	struct region_place p = {.slot = stack_pointer(ctx) + up - 1,
				 .live = stack_pointer(ctx) - 1};

	if (flags & WIRE_REGION_CALLED)
		p.live = p.slot;
	if (flags & WIRE_REGION_BY_FP) {
		p.slot = frame_pointer(ctx) + up - 1;
		if (p.slot - p.live >= REGION_FAR)
			p.slot = p.live; /* that is no frame pointer */
	}
	return p;
}

/* A search for a region's frame, from the innermost frame on. */
struct region_search {
	u64 slot;
	u32 function;
	u32 site;
	u32 frame; /* where it is */
	u32 found; /* the results; 0: none */
	u32 below; /* the first one of the region whose stack is gone */
	bool live; /* functions that have not been left lie above what was found */
	u8 pad[3];
};

static __always_inline bool is_region(const struct wire_frame *f, u32 function)
{
	return f->function == function &&
	       (f->entry & (WIRE_FRAME_REGION | WIRE_FRAME_ENDED)) == WIRE_FRAME_REGION;
}

/* Among those with the same slot: one that was begun at the same site, and never ended. */
static long region_seek_same(__attribute__((unused)) u32 i, struct region_search *s)
{
	const struct wire_frame *f = frame_at(s->frame);

	if (!f || f->slot > s->slot)
		return 1;
	if (f->slot == s->slot && is_region(f, s->function) &&
	    WIRE_FRAME_SITE(f->entry) == s->site) {
		s->found = s->frame;
		return 1;
	}
	s->frame = f->up;
	return 0;
}

/* The innermost one that an end can be meant for. */
static long region_seek_open(__attribute__((unused)) u32 i, struct region_search *s)
{
	const struct wire_frame *f = frame_at(s->frame);

	if (!f || !f->level)
		return 1;
	if (is_region(f, s->function)) {
		if (f->slot >= s->slot) {
			s->found = s->frame;
			return 1;
		}
		if (!s->below)
			s->below = s->frame;
	}
	s->live |= f->slot >= s->slot && !(f->entry & WIRE_FRAME_REGION);
	s->frame = f->up;
	return 0;
}

/* Closes all that is above an open frame. */
static __always_inline struct wire_frame *
unwind_to(u32 number, const struct wire_callstack *callstack, u32 frame, u64 now)
{
	if (callstack->top != frame)
		frames_close(number, frame, now, CLOSE_ABOVE);
	return frame_at(callstack->top);
}

/* The frame, the innermost one, on which that of a region that begins now is put. Frames with slots
 * below `live` are closed. */
static __always_inline struct wire_frame *region_below(const struct place *at,
						       struct wire_frame *top, u64 live,
						       u32 function, u32 site, u64 now)
{
	struct region_search s = {.slot = at->slot, .function = function, .site = site};
	const struct wire_frame *f;

	top = regions_settle(at->number, at->callstack,
			     unwind_below(at->number, at->callstack, top, live, now), now);
	if (!top || top->slot > s.slot)
		return top;
	s.frame = at->callstack->top;
	LOOP(REGION_REACH, region_seek_same, &s);
	f = frame_at(s.found);
	if (!s.found || !f)
		return top;
	return unwind_to(at->number, at->callstack, f->up, now);
}

/* All that a mark's hit takes lies in what is open around it. */
static __always_inline void mark_pass(struct wire_callstack *callstack, u32 class, u32 caller)
{
	const struct wire_cost *cost = cost_of(class);
	struct wire_frame *f = frame_at(callstack->top), *around = frame_at(caller);

	if (!f || !around)
		return;
	frame_returned(callstack, f, f->entered_ns, WIRE_COST_NONE);
	frame_charge(callstack, around, cost->inside_ns + cost->outside_ns);
}

static __always_inline void region_enter(struct pt_regs *ctx, u64 cookie)
{
	const struct region_place p = region_place(ctx, cookie);
	u32 function = cookie & WIRE_COOKIE_FUNCTION, around;
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;
	u32 site = (cookie >> WIRE_COOKIE_SITE) & (WIRE_MAX_SITES - 1);
	u32 entry = WIRE_FRAME_REGION | site << (WIRE_COOKIE_GENERATION - WIRE_COOKIE_FLAGS);
	bool mark = (cookie >> WIRE_COOKIE_FLAGS) & WIRE_REGION_MARK;
	const struct hit hit = {.ctx = ctx, .slot = p.slot};
	struct beginning region;
	struct wire_frame *top;
	struct arrival a;
	struct place at;

	if (!entry_admit(&at, current_task(), p.slot, cookie, &a))
		return;
	if (!mark)
		entry |= class << (WIRE_COOKIE_COST - WIRE_COOKIE_FLAGS);
	if (keep_values)
		entry |= ((cookie >> WIRE_COOKIE_VALUES) & 0xff) << WIRE_FRAME_LIST;
	region = (struct beginning){&hit, function, entry | arrival_burst(&a), a.weight, a.role, 0};
	top = frame_at(at.callstack->top);
	if (top && top->slot <= at.slot) {
		top = region_below(&at, top, at.slot - (p.slot - p.live), function, site,
				   bpf_ktime_get_ns());
	}
	around = at.callstack->top;
	if (frame_push(&at, &region, top) && mark)
		mark_pass(at.callstack, class, around);
	callstack_unlock(at.callstack);
}

/* An end that nothing is closed by costs whatever is open. */
static __always_inline void end_charge(struct wire_callstack *callstack, u32 class)
{
	const struct wire_cost *cost = cost_of(class);
	struct wire_frame *top = frame_at(callstack->top);

	if (top)
		frame_charge(callstack, top, cost->inside_ns + cost->outside_ns);
}

/* Whether begins of the region may have been passed over, so that an end without one may be met
 * while another is open: then it is known only by its place. */
static __always_inline bool region_has_gaps(u32 function, const struct wire_frame *top)
{
	const struct wire_function_mode *s = bpf_map_lookup_elem(&function_modes, &function);

	return (s && s->every) || (top && top->level >= max_level) ||
	       (keep_values && top && values_decide(WIRE_FRAME_VALUES(top->entry)));
}

struct region_end {
	u64 slot, live; /* on the call stack */
	u64 now;
	u32 callstack, function, class;
	u32 pad;
};

/* An end that is not at the innermost frame's slot. */
static __noinline u32 region_end_apart(const struct region_end *end)
{
	struct region_search s = {.slot = end->slot, .function = end->function};
	struct wire_callstack *callstack = callstack_at(end->callstack);
	struct wire_frame *f, *top;
	u32 frame;

	if (!callstack)
		return 0;
	s.frame = callstack->top;
	LOOP(REGION_REACH, region_seek_open, &s);
	frame = s.found ? s.found : s.below;
	f = frame_at(frame);
	top = frame_at(callstack->top);
	if (!frame || !f || !top || (f->slot != end->slot && region_has_gaps(end->function, f))) {
		end_charge(callstack, end->class);
		return 0;
	}
	if (!s.found) {
		unwind_to(end->callstack, callstack, frame, end->now);
	} else {
		unwind_below(end->callstack, callstack, top, end->live, end->now);
		if (s.live) {
			f->entry |= WIRE_FRAME_ENDED;
			end_charge(callstack, end->class);
			return 0;
		}
		unwind_to(end->callstack, callstack, frame, end->now);
	}
	frames_close(end->callstack, end->class, end->now, CLOSE_LEFT);
	top = frame_at(callstack->top);
	if (top)
		top = unwind_below(end->callstack, callstack, top, end->live, end->now);
	regions_settle(end->callstack, callstack, top, end->now);
	return 1;
}

/* A region ends, unless its begin was not recorded or something has ended it already. */
static __always_inline void region_leave(const struct pt_regs *ctx, u64 cookie, u64 now)
{
	const struct region_place p = region_place(ctx, cookie);
	const struct task_struct *task = current_task();
	u32 function = cookie & WIRE_COOKIE_FUNCTION, number;
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;
	struct wire_callstack *thread_stack;
	struct wire_frame *top;
	struct place at;

	thread_stack = gate_is_open() ? thread_stack_current(task, false, &number) : 0;
	if (!thread_stack || hit_is_claimed(thread_stack, p.slot, function | REGION_END, cookie) ||
	    !place_of(&at, task, thread_stack, number, p.slot, false))
		return;
	top = frame_at(at.callstack->top);
	if (top && top->slot == at.slot && is_region(top, function)) {
		frame_returned(at.callstack, top, now, class);
		regions_settle(at.number, at.callstack, frame_at(at.callstack->top), now);
	} else {
		const struct region_end end = {.slot = at.slot,
					       .live = at.slot - (p.slot - p.live),
					       .now = now,
					       .callstack = at.number,
					       .function = function,
					       .class = class};

		region_end_apart(&end);
	}
	callstack_unlock(at.callstack);
}

#endif
