/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Closing frames: the only places where a call ends, each counted once. */
#ifndef PROFTRACE_FRAMES_BPF_H
#define PROFTRACE_FRAMES_BPF_H

#include "bursts.bpf.h"
#include "calls.bpf.h"
#include "distributions.bpf.h"
#include "lines.bpf.h"
#include "system_call_frames.bpf.h"

struct wire_cost costs[WIRE_COST_MASK + 1] SEC(".data") = {};
/* Distributions, minima and maxima keep the probes' cost in. */
const volatile bool keep_cost = false;

static __always_inline const struct wire_cost *cost_of(u32 class)
{
	return &costs[class & WIRE_COST_MASK];
}

/* There are regions, or may be (regions.bpf.h). */
const volatile bool has_regions = false;

/* Probes have taken time on the call stack just now, from whatever is open on it or beside it. */
static __always_inline void callstack_charge(struct wire_callstack *callstack, s64 ns)
{
	if (has_regions)
		callstack->probe_ns += ns;
}

/* The probes have taken time from an open call, now or before: `ns` of what is its own. Below 0: it
 * was charged too much before. */
static __always_inline void frame_add_cost(struct wire_frame *f, s64 ns)
{
	u64 own_ns = f->own_probe_ns + ns;

	struct wire_node *n = node_at(f->node);

	f->probe_ns += ns;
	f->own_probe_ns = own_ns < ~0u ? own_ns : ns < 0 ? 0 : ~0u;
	if (n)
		n->probe_ns += ns;
}

/* Charges `ns` of probe time that has just passed to the open frame and to its call stack. */
static __always_inline void frame_charge(struct wire_callstack *callstack, struct wire_frame *f,
					 s64 ns)
{
	frame_add_cost(f, ns);
	callstack_charge(callstack, ns);
}

/*
 * Other calls, which one that was kept stands for, have taken `ns` of this one: it is not its own
 * time. Its path loses that at once. Were it the callees' time (child_ns), and stood this call for
 * others, too, it would be scaled again: 1 us of one call in 1,000, four levels deep, to 31 years.
 */
static __always_inline void frame_lose(const struct wire_frame *f, u64 ns)
{
	struct wire_node *n = node_at(f->node);

	if (n)
		n->self_ns -= ns;
}

/*
 * A thread may be preempted between a reading of the clock and the moment when its innermost frame
 * changes; what it waits then is time of the frame that is innermost meanwhile. So the readings
 * give way to that, in the next two: a call that is charged with a wait lasts as long as that, and
 * none begins before a wait that its caller is charged with.
 */

/* The frame of number `frame` is put on top of the call stack's innermost one; its call has begun
 * at `now`. Returns when it has begun indeed. */
static __always_inline u64 callstack_push(struct wire_callstack *callstack, struct wire_frame *f,
					  u32 frame, u64 now)
{
	f->entered_ns = now;
	call_begins(callstack, frame);
	*(volatile u32 *)&callstack->top = frame;
	if (*(volatile u64 *)&callstack->waited_ns > now && callstack->waited_frame == f->up) {
		f->entered_ns = now = callstack->waited_ns;
		call_begins(callstack, frame);
	}
	return now;
}

/* The call stack's innermost frame is taken off; its call has ended at `now`. Returns when it has
 * ended indeed, and sets *off_ns to what the call stack had waited then. */
static __always_inline u64 callstack_pop(struct wire_callstack *callstack,
					 const struct wire_frame *f, u64 now, u64 *off_ns)
{
	u64 burst_end_ns = burst_end(f);

	*off_ns = *(volatile u64 *)&callstack->off_ns;
	*(volatile u32 *)&callstack->top = f->up;
	if (burst_end_ns)
		return stale_end(f, burst_end_ns, now);
	if (*(volatile u64 *)&callstack->waited_ns <= now || callstack->waited_frame == f->up)
		return now;
	*off_ns = callstack->off_ns;
	return callstack->waited_ns;
}

/*
 * Takes the innermost frame off and adds its time to its path `n` and to its caller's. `exit` is
 * the cost class of the probe that saw it leave. A call that stands for others is scaled, by its
 * own weight alone: its own time, not that of its callees, which are counted anyway; and as the
 * others lie in the caller's time too, that loses what is added here. So single self times may fall
 * below 0, their sums do not. Every frame but the lowest, which is never closed, has a path and
 * a caller: who closes a frame looks for both first, so that the verifier has no ways to walk on
 * which one is missing. Returns the time from entry to exit without the probes' cost.
 */
static __always_inline u64 frame_close(struct wire_callstack *callstack, struct wire_frame *f,
				       struct wire_node *n, struct wire_frame *caller, u64 now,
				       u32 exit)
{
	const struct wire_cost *in = cost_of(WIRE_FRAME_COST(f->entry)), *out = cost_of(exit);
	s64 inside = in->inside_ns + out->inside_ns, outside = in->outside_ns + out->outside_ns;
	u64 others = f->weight - 1, took, self, cost, off_ns;
	u32 frame = callstack->top;

	now = callstack_pop(callstack, f, now, &off_ns);
	took = now > f->entered_ns ? now - f->entered_ns : 0;
	self = took - f->child_ns;
	call_ends(callstack, frame, f, took, off_ns);
	if (exit == WIRE_COST_RETURN && (WIRE_FRAME_FLAGS(caller->entry) & WIRE_ENTRY_RETURN)) {
		inside += cost_of(WIRE_COST_NESTED)->inside_ns;
		outside += cost_of(WIRE_COST_NESTED)->outside_ns;
	}
	callstack_charge(callstack, inside + outside - in->inside_ns - in->outside_ns);
	cost = f->probe_ns + inside;
	if (keep_lines)
		line_ends(frame, now, cost - in->inside_ns, exit);
	n->self_ns += self;
	n->probe_ns += inside;
	if (others && took < WIRE_SCALED_MAX_NS) {
		u64 scaled = others * (self - inside - f->own_probe_ns);

		n->self_ns += scaled;
		frame_lose(caller, scaled);
	}
	caller->child_ns += took;
	caller->probe_ns += cost;
	frame_add_cost(caller, outside);
	if (keep_cost)
		return took;
	return took > cost ? took - cost : 0;
}

/* The call of a frame that was closed, of path `n`, has returned after `took` ns. */
static __always_inline void frame_took(struct wire_callstack *callstack, const struct wire_frame *f,
				       struct wire_node *n, u64 took)
{
	callstack->returned++;
	dist_add(f->function, took, took < WIRE_SCALED_MAX_NS ? f->weight : 1);
	if (!took)
		took = 1;
	if (!n->min_ns || took < n->min_ns)
		n->min_ns = took;
	if (took > n->max_ns)
		n->max_ns = took;
}

static __always_inline void frame_returned(struct wire_callstack *callstack, struct wire_frame *f,
					   u64 now, u32 exit)
{
	struct wire_frame *caller = frame_at(f->up);
	struct wire_node *n = node_at(f->node);

	if (n && caller)
		frame_took(callstack, f, n, frame_close(callstack, f, n, caller, now, exit));
}

/* Charges the innermost span of call stack `number` with the time that its base has waited, and
 * with the probes' cost there, since the last event of the spans (spans.bpf.h). */
__noinline u32 spans_catch_up(u32 base_number, u32 number)
{
	const struct wire_callstack *base = callstack_at(base_number);
	struct wire_callstack *callstack = callstack_at(number);
	struct wire_frame *top = callstack ? frame_at(callstack->top) : 0;
	struct wire_node_rest *n = top ? node_rest_at(top->node) : 0;

	if (!base || !n)
		return 0;
	n->off_ns += (base->off_ns - callstack->off_ns) * top->weight;
	frame_add_cost(top, base->probe_ns - callstack->probe_ns);
	callstack->off_ns = base->off_ns;
	callstack->probe_ns = base->probe_ns;
	return number;
}

#define WHOLE_STACK (~0ull) /* a slot: that of the sentinel */

/* Which frames of a call stack frames_close() closes, from the innermost one on. */
enum close_what {
	CLOSE_BELOW, /* those whose slots lie below `limit` */
	CLOSE_GONE,  /* the same, as the thread waits: a few calls of functions, no more */
	CLOSE_ABOVE, /* all above the frame of number `limit`, which is open */
	CLOSE_ENDED, /* regions whose end was reached in callees, of which none is left */
	CLOSE_TOP,   /* those whose slot a new call of function `limit` uses */
	CLOSE_LEFT,  /* the innermost one: a probe of cost class `limit` has seen it leave */
	CLOSE_STALE, /* those that were entered in bursts whose probes are gone */
};

/* A walk over a call stack's open frames, from the innermost one on. */
struct close_walk {
	u64 limit, now;
	u32 what;
	u32 number; /* the call stack, or one of spans beside it; 0: the walk is over */
};

/* When a whole stack is closed, the spans beside it are closed as well. Returns the call stack to
 * go on with; 0: none. */
static __always_inline u32 close_beside(const struct close_walk *w,
					const struct wire_callstack *callstack)
{
	if (!has_regions || w->limit != WHOLE_STACK || !callstack->spans)
		return 0;
	spans_catch_up(callstack->base ? callstack->base : w->number, callstack->spans);
	return callstack->spans;
}

/* The function of the innermost frame has left by a tail call, or unseen. */
static __always_inline bool close_tail_call(const struct wire_frame *f, u32 *exit)
{
	u32 flags = WIRE_FRAME_FLAGS(f->entry);

	if (!(flags & WIRE_ENTRY_TAIL))
		return false;
	if (flags & WIRE_ENTRY_RETURN)
		*exit = WIRE_COST_TAIL;
	return true;
}

/* Some functions have WIRE_ROLE_WHOLE. */
const volatile bool keep_whole = false;

/* Whether a function has WIRE_ROLE_WHOLE. Global, as the verifier then looks at it once. */
__noinline u32 is_whole(u32 function)
{
	const struct wire_function_mode *mode = bpf_map_lookup_elem(&function_modes, &function);

	return mode && (mode->role & WIRE_ROLE_WHOLE);
}

/* Whether a whole call has been left by a jump to a function whose leave will be seen. */
static __always_inline bool has_jumped(const struct wire_frame *f)
{
	return keep_whole && !is_of_burst(f) && (f->entry & WIRE_FRAME_JUMPED);
}

/* Whether the return address that lies at `slot`, of the current thread, is the kernel's for return
 * probes. A call that was left otherwise than by a jump (longjmp), or that was spared its return
 * probe, has another one there. */
__noinline u32 returns_to_probes(u64 slot)
{
	const struct mm_struct *mm = FAR_FIELD(current_task(), mm);
	const struct xol_area *area = FAR_FIELD(mm, uprobes_state.xol_area);
	u64 address = 0;

	if (!bpf_core_field_exists(area->vaddr) || !area ||
	    bpf_probe_read_user(&address, sizeof(address), (void *)slot))
		return false;
	return address == FAR_FIELD(area, vaddr);
}

/* Whether a call goes on in the call of `function` that has taken its slot: then that one is its
 * callee. In another whole one it does not, or functions that jump to each other without end would
 * be called ever deeper. */
static __always_inline bool goes_on(const struct wire_frame *f, u32 function)
{
	const u32 seen = WIRE_ENTRY_TAIL | WIRE_ENTRY_RETURN;

	if (!keep_whole || is_whole(function))
		return false;
	return has_jumped(f) || ((WIRE_FRAME_FLAGS(f->entry) & seen) == seen &&
				 is_whole(f->function) && returns_to_probes(f->slot));
}

/* The frame is one that is to stay. */
static __always_inline bool close_ends(u64 limit, u32 what, const struct wire_callstack *callstack,
				       const struct wire_frame *f)
{
	if (!f->level)
		return true;
	if (what == CLOSE_BELOW)
		return f->slot >= limit;
	if (what == CLOSE_GONE)
		return f->slot >= limit || (f->entry & WIRE_FRAME_REGION) || is_system_call(f);
	if (what == CLOSE_STALE)
		return !is_stale(f);
	if (what == CLOSE_TOP)
		return goes_on(f, limit);
	if (what == CLOSE_ENDED)
		return !(f->entry & WIRE_FRAME_ENDED);
	return what == CLOSE_ABOVE && callstack->top == limit;
}

/* How a frame is closed: the cost class of the probe that has seen it leave, and one of these. */
#define CLOSE_ENDS_WALK (1u << 31) /* it is to stay */
#define CLOSE_RETURNED	(1u << 30) /* its call returned; else it is unwound */

/* How the innermost frame of call stack `number` is closed: CLOSE_* above. Global, so that the
 * verifier looks at the ways through it once, and not at all that follows on each of them. */
__noinline u32 close_how(u32 number, u64 limit, u32 what)
{
	const struct wire_callstack *callstack = callstack_at(number);
	const struct wire_frame *f = callstack ? frame_at(callstack->top) : 0;
	u32 exit = WIRE_COST_NONE;

	if (!f || close_ends(limit, what, callstack, f))
		return CLOSE_ENDS_WALK;
	if (what == CLOSE_LEFT)
		return limit | CLOSE_RETURNED;
	if (what == CLOSE_TOP)
		return close_tail_call(f, &exit) ? exit | CLOSE_RETURNED : exit;
	return has_regions && (f->entry & WIRE_FRAME_ENDED) ? exit | CLOSE_RETURNED : exit;
}

/* Closes one frame. Returns the call stack to go on with; 0: the walk is over. */
static __always_inline u32 close_next(const struct close_walk *w)
{
	u32 how = close_how(w->number, w->limit, w->what), exit = how & WIRE_COST_MASK;
	struct wire_callstack *callstack = callstack_at(w->number);
	struct wire_frame *f = callstack ? frame_at(callstack->top) : 0;
	struct wire_frame *caller = f ? frame_at(f->up) : 0;
	struct wire_node *n = f ? node_at(f->node) : 0;
	u64 took;

	if (!n || !caller)
		return 0;
	if (how & CLOSE_ENDS_WALK) {
		if (w->what != CLOSE_BELOW)
			return 0;
		if (callstack->kind == WIRE_CALLSTACK_SPANS)
			callstack->passed = 0;
		return close_beside(w, callstack);
	}
	took = frame_close(callstack, f, n, caller, w->now, exit);
	if (how & CLOSE_RETURNED)
		frame_took(callstack, f, n, took);
	else
		callstack->unwound++;
	if (w->what == CLOSE_TOP && keep_whole && caller->slot == f->slot) {
		/* Of a jump its probes would have told: both have been unwound. */
		if (!(how & CLOSE_RETURNED) || exit == WIRE_COST_NONE)
			caller->entry &= ~(WIRE_FRAME_JUMPED | WIRE_ENTRY_TAIL);
		return w->number;
	}
	return w->what == CLOSE_TOP || w->what == CLOSE_LEFT ? 0 : w->number;
}

/* Frames that are closed at one event, at most; if there are more, the next one goes on. */
#ifndef PROFTRACE_BASIC
#define MAX_UNWIND (1 << 22)
#else
#define MAX_UNWIND 4096 /* the verifier follows no more than 8,192 branches in a row */
#endif

ONCE_IF_WALKED u32 close_frame(u32 number, u64 limit, u64 now, u32 what)
{
	const struct close_walk w = {.limit = limit, .now = now, .what = what, .number = number};

	return close_next(&w);
}

#define MAX_GONE 64 /* interrupts are off meanwhile */

/* The bound on CLOSE_GONE is looked at here: were it the loop's number of rounds, the verifier
 * would walk the loop once for either number. */
static __always_inline long close_one(u32 i, struct close_walk *w)
{
	if (HAS_REGISTERS && i >= MAX_GONE && w->what == CLOSE_GONE)
		return 1;
	w->number = close_frame(w->number, w->limit, w->now, w->what);
	return !w->number;
}

/* Closes frames of a call stack whose leave nobody has seen. The only loop that does: a global
 * function, which the verifier looks at once, and not in each place that calls it; and no other
 * that closes frames is open meanwhile, which would take too much stack. */
__noinline u32 frames_close(u32 number, u64 limit, u64 now, u32 what)
{
	struct close_walk w = {.limit = limit, .now = now, .what = what, .number = number};

	LOOP(MAX_UNWIND, close_one, &w);
	return number;
}

/* Closes all frames below `slot`; returns the innermost one left. */
static __always_inline struct wire_frame *unwind_below(u32 number,
						       const struct wire_callstack *callstack,
						       struct wire_frame *top, u64 slot, u64 now)
{
	if (top->slot >= slot)
		return top;
	frames_close(number, slot, now, CLOSE_BELOW);
	return frame_at(callstack->top);
}

/* enum wire_gate. Events count only while it is open: set by user space once every probe is in
 * place. Who switches tracing off closes the frames that are open then: see switch.bpf.h. */
u32 gate = WIRE_GATE_CLOSED;

/* Of two runs one of which replaces the other, and which share `turn`, one counts at any time: that
 * with this number. `turn` is all that its map holds. */
const volatile bool takes_turns = false;
const volatile u32 own_turn = 0;
u32 turn __attribute__((section(".data.turn"))) = 0;

static __always_inline bool gate_is_open(void)
{
	return gate == WIRE_GATE_OPEN ||
	       (takes_turns && gate == WIRE_GATE_BY_TURN && turn == own_turn);
}

u64 opened_ns = 0; /* CLOCK_MONOTONIC: when it was opened last; set before */

/* Closes all that is open on a call stack that nobody runs on: it is gone without a trace. */
static __always_inline void unwind_all(u32 number, u64 now)
{
	frames_close(number, WHOLE_STACK, now, CLOSE_BELOW);
}

#endif
