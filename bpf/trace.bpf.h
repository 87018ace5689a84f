/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of a probe: enter() and leave() keep the call stack's shadow stack and add finished
 * calls to their call path. Every attach backend's programs end up here.
 *
 * A frame is identified by its slot, the address of its return address. The stack grows downwards,
 * so on any event all frames whose slot lies below the event's are gone, however they went
 * (longjmp, an exception, a return that nobody saw): they are closed as unwound. Enters and leaves
 * need not pair up.
 */
#ifndef PROFTRACE_TRACE_BPF_H
#define PROFTRACE_TRACE_BPF_H

#include "burst_bound.bpf.h"
#include "line_hits.bpf.h"
#include "places.bpf.h"
#include "seeds.bpf.h"
#include "triggers.bpf.h"

/* Calls deeper than this are left out. */
const volatile u32 max_level = ~0u;

/* Closes regions whose end was reached in callees, of which none is left; returns the innermost
 * frame. */
static __always_inline struct wire_frame *
regions_settle(u32 number, const struct wire_callstack *callstack, struct wire_frame *top, u64 now)
{
	if (!has_regions || !top || !(top->entry & WIRE_FRAME_ENDED))
		return top;
	frames_close(number, 0, now, CLOSE_ENDED);
	return frame_at(callstack->top);
}

/* Closes calls whose end no probe is left to see; returns the innermost frame. */
static __always_inline struct wire_frame *
stale_settle(u32 number, const struct wire_callstack *callstack, struct wire_frame *top)
{
	if (!has_bursts || !top || !is_stale(top))
		return top;
	frames_close(number, 0, bpf_ktime_get_ns(), CLOSE_STALE);
	return frame_at(callstack->top);
}

/* The innermost frame's slot is used by a new call of `function`: it left by a tail call, or
 * unseen; or it goes on in that. */
static __always_inline struct wire_frame *
frame_replaced(u32 number, const struct wire_callstack *callstack, u32 function, u64 now)
{
	frames_close(number, function, now, CLOSE_TOP);
	return frame_at(callstack->top);
}

/* Closes a whole call that went on in another one by a jump, which has returned now. */
static __always_inline void jumped_settle(const struct place *at, u64 now)
{
	const struct wire_frame *top = keep_whole ? frame_at(at->callstack->top) : 0;

	if (top && top->slot == at->slot && has_jumped(top))
		frames_close(at->number, WIRE_COST_NONE, now, CLOSE_LEFT);
}

/* The hit of a probe: registers, and the address of the return address, even where slots are
 * something else. */
struct hit {
	struct pt_regs *ctx;
	u64 slot;
};

/* The path of `function` called from the innermost frame; as path_below(). */
static __always_inline struct wire_node *path_step(const struct place *at, struct wire_frame *top,
						   u32 function, u32 *number, bool *looked_up)
{
	bool anew = false;
	struct wire_node *n = path_below(at->number, top->node, function, number, &anew);

	if (anew) {
		*looked_up = true;
		frame_charge(at->callstack, top, cost_of(WIRE_COST_NEW_CALLEE)->outside_ns);
	}
	return n;
}

/* A frame on top of the innermost one, not filled in yet; NULL, counted as lost: no room. */
static __always_inline struct wire_frame *frame_above(struct wire_callstack *callstack,
						      const struct wire_frame *top, u32 *number)
{
	struct wire_frame *f;

	*number = top->down ? top->down : frame_new(callstack->top);
	f = frame_at(*number);
	if (*number && f)
		return f;
	count_lost(WIRE_LOST_FRAMES);
	return 0;
}

u32 timed_limit = WIRE_TIMED_LIMIT;

static __always_inline void node_timed(struct wire_node *n, u64 ns, bool looked_up)
{
	const struct wire_cost *expected = cost_of(WIRE_COST_TIMED);

	if (ns >= WIRE_TIMED_MAX_NS)
		return;
	if (n->timed_ns > 1u << 31 || n->expected_ns > 1u << 31) {
		n->timed_ns /= 2;
		n->expected_ns /= 2;
	}
	n->timed_ns += ns;
	n->expected_ns += looked_up ? expected->outside_ns : expected->inside_ns;
}

/* A call that begins, or a region. */
struct beginning {
	const struct hit *hit;
	u32 function;
	u32 entry;  /* as in the frame; with WIRE_FRAME_BURST its path is apart */
	u32 weight; /* how many calls it stands for */
	u32 role;   /* WIRE_ROLE_* */
	u64 began;  /* when what is timed of it has begun; 0: it is not timed */
};

/* The key of a call's path among those below the same node. */
static __always_inline u32 path_key(u32 function, u32 entry)
{
	return entry & WIRE_FRAME_BURST ? function | WIRE_NODE_BURST : function;
}

/* Its path, below the innermost frame's or with the callers that are unwound; as path_below(). */
static __always_inline struct wire_node *path_of(const struct place *at, struct beginning *call,
						 struct wire_frame *top, u32 *number,
						 bool *looked_up)
{
	if (!keep_callers || !unwinding_on || at->callstack->kind == WIRE_CALLSTACK_SPANS)
		return path_step(at, top, path_key(call->function, call->entry), number, looked_up);
	call->began = 0;
	*number = path_with_callers(call->hit->ctx, at->number,
				    call->entry & WIRE_FRAME_REGION ? 0 : call->hit->slot,
				    top->level ? call->hit->slot + (top->slot - at->slot) : ~0ull,
				    path_key(call->function, call->entry));
	return *number ? node_at(*number) : 0;
}

/* Whether a call that is an outermost one is to be recorded; then it is known below what. */
static __always_inline bool outermost_begins(const struct place *at, struct beginning *call,
					     struct wire_frame *bottom)
{
	if (!may_begin(call->role)) {
		count_untriggered();
		return false;
	}
	root_settle(call->hit->ctx, at->number, at->callstack, bottom, at->slot,
		    call->entry & WIRE_FRAME_REGION);
	return true;
}

/* Puts a frame on top of the innermost one. False: the call is not recorded. */
static __always_inline bool frame_push(const struct place *at, struct beginning *call,
				       struct wire_frame *top)
{
	const struct wire_cost *cost = cost_of(WIRE_FRAME_COST(call->entry));
	struct wire_callstack *callstack = at->callstack;
	u32 node, frame, list = WIRE_FRAME_VALUES(call->entry);
	bool looked_up = false;
	struct wire_frame *f;
	struct wire_node *n;
	u64 now;

	if (!top || top->level >= max_level)
		return false;
	if (!top->level && !outermost_begins(at, call, top))
		return false;
	/* From here on each timed entry does the same: the look at the stack, above, is not part
	 * of its time. */
	call->began = WIRE_TIMED(callstack->entered) < timed_limit ? bpf_ktime_get_ns() : 0;
	f = frame_above(callstack, top, &frame);
	if (!f)
		return false;
	if (keep_values && list) {
		if (!values_enter(call->hit->ctx, list, frame, call->hit->slot))
			return false;
		call->began = 0;
	}
	n = path_of(at, call, top, &node, &looked_up);
	if (!n)
		return false;
	f->slot = at->slot;
	f->child_ns = f->probe_ns = 0;
	f->own_probe_ns = 0;
	f->node = node;
	f->function = call->function;
	f->entry = call->entry;
	f->weight = call->weight;
	n->calls += call->weight;
	callstack_charge(callstack, cost->inside_ns + cost->outside_ns);
	callstack->entered++;
	now = callstack_push(callstack, f, frame, bpf_ktime_get_ns());
	if (keep_lines)
		line_begins(frame, call->function, now, cost->inside_ns);
	if (call->began)
		node_timed(n, now - call->began, looked_up);
	return true;
}

/* Takes one off the calls of a function in a burst: a jump back to the function's entry, as at the
 * end of each round of a loop, hits the entry's probe and is no call. */
__noinline u32 uncount(u32 function)
{
	u32 at = counter_place(counters_here(), function);
	u64 *seen = bpf_map_lookup_elem(&counted, &at);

	if (seen)
		__sync_fetch_and_add(seen, -1);
	return 0;
}

/* A call of a function, from whatever is open at `slot`'s call stack; as frame_push(). */
static __always_inline bool frame_enter(const struct place *at, struct beginning *call)
{
	struct wire_callstack *callstack = at->callstack;
	u32 function = call->function, entry = call->entry;
	struct wire_frame *top;
	u64 now;

	top = stale_settle(at->number, callstack, frame_at(callstack->top));
	if (top && top->slot <= at->slot) {
		now = bpf_ktime_get_ns();
		top = unwind_below(at->number, callstack, top, at->slot, now);
		if (top && top->slot == at->slot) {
			if ((WIRE_FRAME_FLAGS(entry) & WIRE_ENTRY_LOOP) &&
			    top->function == function) {
				const struct wire_cost *cost = cost_of(WIRE_FRAME_COST(entry));
				u32 line = keep_lines ? line_entry(function) : 0;

				if (line)
					line_arrives(callstack, top, callstack->top, line, cost);
				else
					frame_charge(callstack, top,
						     cost->inside_ns + cost->outside_ns);
				if (has_bursts && (entry & WIRE_FRAME_BURST))
					uncount(function);
				return false; /* one return probe is enough */
			}
			top = frame_replaced(at->number, callstack, function, now);
		}
		top = regions_settle(at->number, callstack, top, now);
	}
	return frame_push(at, call, top);
}

/*
 * A call of a leaf that only runs its instructions, `insns` of them at most, and returns: counted
 * as entered and as returned. It never has a frame. Its time is what its instructions may take, so
 * it is within 0 and that but for caches that miss, and for what interrupts it: this is its
 * caller's, as are calls of signal handlers that run amid it.
 */
static __always_inline void frame_pass(const struct place *at, struct beginning *call, u32 insns)
{
	const struct wire_cost *cost = cost_of(WIRE_FRAME_COST(call->entry));
	u32 function = call->function, weight = call->weight;
	struct wire_callstack *callstack = at->callstack;
	struct wire_frame *top = frame_at(callstack->top);
	u64 ns = insns * WIRE_INSN_PS / 1000;
	bool looked_up = false;
	struct wire_node *n;
	u32 node;

	top = stale_settle(at->number, callstack, top);
	if (top && top->slot <= at->slot) {
		u64 now = bpf_ktime_get_ns();

		top = unwind_below(at->number, callstack, top, at->slot, now);
		if (top && top->slot == at->slot)
			top = frame_replaced(at->number, callstack, function, now);
		top = regions_settle(at->number, callstack, top, now);
	}
	if (!top || top->level >= max_level)
		return;
	if (!top->level && !outermost_begins(at, call, top))
		return;
	n = path_step(at, top, path_key(function, call->entry), &node, &looked_up);
	if (!n)
		return;
	ns += !ns;
	n->calls += weight;
	n->self_ns += ns * weight;
	n->min_ns = n->max_ns = ns;
	callstack->entered++;
	callstack->returned++;
	top->child_ns += ns;
	frame_lose(top, ns * (weight - 1));
	frame_charge(callstack, top,
		     cost->inside_ns + cost->outside_ns - cost_of(WIRE_COST_CLOSED)->outside_ns);
	dist_add(function, ns, weight);
	if (keep_whole)
		jumped_settle(at, bpf_ktime_get_ns());
}

/* No function has a return probe: the verifier passes over what is about these. */
const volatile bool returns_spared = false;

/* Whether the kernel has as many return probes armed on the current thread as it will: it leaves
 * out that of the call that is being entered. Global, as has_loaded(): at each pointer that is read
 * of a task the verifier goes through all the names in the kernel's BTF. */
__noinline u32 returns_exhausted(void)
{
	const struct uprobe_task *utask = FIELD(current_task(), utask);

	return utask && FIELD(utask, depth) >= WIRE_MAX_RETURNS;
}

/* Return probes are only on functions under which no stack can be switched. */
bool returns_proven = false;

/* Pages of code that a process has mapped, but for the one where the kernel single-steps. */
#define CODE_PAGES(MM) ((MM)->exec_vm - !!(MM)->uprobes_state.xol_area)

/* Whether the current process has not as many pages of code mapped. */
__noinline u32 has_loaded(u32 code_pages)
{
	const struct mm_struct *mm = current_task()->mm;

	return CODE_PAGES(mm) != code_pages;
}

/*
 * Whether a return address on the call stack may be exchanged. The kernel keeps one list of those
 * of a thread, and takes those for dead that lie below a new one. So a new one must lie below all
 * others: those of the same stack, if nothing is switched under them, else those on the thread's
 * thread stack. A signal stack may lie anywhere; and a stack that no one was expected to make is
 * left alone, also where the thread stack stands in for its call stack.
 */
static __always_inline bool returns_in_order(const struct wire_callstack *callstack)
{
	const struct wire_callstack *under;
	const struct wire_frame *top;

	/* A forked child, whose loads nobody looks at, and which has mapped code since it was born:
	 * that may unwind. */
	if (callstack->code_pages && has_loaded(callstack->code_pages))
		return false;
	if (callstack->kind == WIRE_CALLSTACK_THREAD)
		return returns_proven || !callstack->astray;
	if (callstack->kind != WIRE_CALLSTACK_SIGNAL)
		return returns_proven;
	under = callstack_at(callstack->under);
	top = under && under->pid_tgid == callstack->owner ? frame_at(under->top) : 0;
	return top && top->slot >= callstack->hi;
}

/* Some function has a switch that is set. */
bool switches_set = false;

/* The part of a call's weight that says in which burst it is recorded. */
static __always_inline u64 weight_in_burst(void)
{
	return (u64)WIRE_FRAME_BURST_OF(burst_serial) << 32;
}

/* How many calls the current one stands for, of a function with a switch; 0: it is passed over.
 * `number`: the thread stack. With weight_in_burst() it is recorded in a burst alone. Global, so
 * that the verifier knows nothing of the result, and looks once at what comes after it. */
__noinline u64 switch_weight(u32 function, u32 number)
{
	const struct wire_function_mode *s = bpf_map_lookup_elem(&function_modes, &function);
	u32 share = counters_here(), every = s ? s->every : 0, at;
	u64 *seen, phase;

	if (!every)
		return 1;
	at = counter_place(share, function);
	if (has_bursts && every == 1 && bursting && thread_in_burst(number, burst_phase_here())) {
		seen = bpf_map_lookup_elem(&counted, &at);
		if (seen)
			count_up(seen);
		return weight_in_burst() | 1;
	}
	seen = bpf_map_lookup_elem(&passed, &at);
	if (!seen)
		return 0;
	phase = WIRE_PHASE(share, passed_shares_mask + 1, every);
	return !((count_up(seen) + phase) % every) && every > 1 ? every : 0;
}

/* A call that is passed over costs its caller the hit of its entry. */
static __always_inline void place_charge_passed(const struct place *at, u32 entry)
{
	const struct wire_cost *cost = cost_of(WIRE_FRAME_COST(entry));
	struct wire_frame *top = frame_at(at->callstack->top);

	if (top)
		frame_charge(at->callstack, top,
			     cost->inside_ns + cost->outside_ns -
				     cost_of(WIRE_COST_SPARED)->outside_ns);
	callstack_unlock(at->callstack);
}

/*
 * Whether this hit of an entry site is another probe's business. While a function moves from one
 * link to another it has probes in both. The kernel calls the one that was put in last first
 * (consumer_add() and handler_chain() in kernel/events/uprobes.c, 6.6 to 6.18), and a hit that
 * finds the newer one finds the older one behind it. So the first one to be called records the
 * call and leaves a note of its generation; those behind it find a newer one than their own.
 * Whether the call was recorded, or has been left already (an entry may be an exit, too), makes no
 * difference. A thread without a thread stack leaves no note: what is lost for want of one may be
 * counted twice. `what` is the function, or what else tells apart what can happen at one place.
 */
static __always_inline bool hit_is_claimed(struct wire_callstack *thread_stack, u64 slot, u32 what,
					   u64 cookie)
{
	u32 generation = cookie >> WIRE_COOKIE_GENERATION;
	u32 ahead = (thread_stack->hit_generation - generation) % WIRE_GENERATIONS;
	bool claimed = thread_stack->hit_slot == slot && thread_stack->hit_function == what &&
		       ahead && ahead < WIRE_GENERATIONS / 2;

	thread_stack->hit_slot = slot;
	thread_stack->hit_function = what;
	thread_stack->hit_generation = generation;
	return claimed;
}

/* A call of an until begins. */
static __always_inline void until_reached(const struct task_struct *task,
					  struct wire_callstack *thread_stack, u32 number, u64 slot)
{
	struct place at;

	if (!has_triggers) {
		stop_everywhere();
	} else if (place_of(&at, task, thread_stack, number, slot, false)) {
		unwind_all(at.number, bpf_ktime_get_ns());
		callstack_unlock(at.callstack);
	}
}

/* A begin that has been seen, and what is to be made of it. */
struct arrival {
	struct wire_callstack *thread_stack;
	u32 number; /* the thread stack's */
	u64 weight; /* as switch_weight() */
	u32 role;   /* WIRE_ROLE_* */
};

/* WIRE_FRAME_BURST_OF() the burst, or 0. */
static __always_inline u32 arrival_burst(const struct arrival *a)
{
	return a->weight >> 32;
}

/* Whether a hit that begins something of `function` is this probe's business. */
static __always_inline bool entry_arrives(struct arrival *a, const struct task_struct *task,
					  u64 slot, u64 cookie)
{
	u32 function = cookie & WIRE_COOKIE_FUNCTION;
	const struct wire_function_mode *s;

	a->thread_stack = gate_is_open() ? thread_stack_current(task, true, &a->number) : 0;
	if (!a->thread_stack || hit_is_claimed(a->thread_stack, slot, function, cookie))
		return false;
	s = switches_set ? bpf_map_lookup_elem(&function_modes, &function) : 0;
	a->role = role_of(s);
	if (has_untils && (a->role & WIRE_ROLE_UNTIL)) {
		until_reached(task, a->thread_stack, a->number, slot);
		if (!has_triggers || !(a->role & WIRE_ROLE_TRIGGER))
			return false;
	}
	a->weight = s && s->every ? switch_weight(function, a->number) : 1;
	return true;
}

/* Whether a call of `function` that begins at `slot` is to be recorded, with what weight and role:
 * then it is found out where, and the call stack is locked. */
static __always_inline bool entry_admit(struct place *at, const struct task_struct *task, u64 slot,
					u64 cookie, struct arrival *a)
{
	if (!entry_arrives(a, task, slot, cookie))
		return false;
	if (!place_of(at, task, a->thread_stack, a->number, slot,
		      a->weight && may_begin(a->role))) {
		if (!may_begin(a->role))
			count_untriggered();
		return false;
	}
	if (a->weight)
		return true;
	place_charge_passed(at, cookie >> WIRE_COOKIE_FLAGS);
	return false;
}

/*
 * A function is entered by the current thread; its return address lies at `slot`. Returns whether a
 * call was recorded, *at being where (else its leave is of no use).
 */
static __always_inline bool enter(struct place *at, struct pt_regs *ctx,
				  const struct task_struct *task, u64 slot, u64 cookie)
{
	u32 function = cookie & WIRE_COOKIE_FUNCTION, entry = cookie >> WIRE_COOKIE_FLAGS;
	const struct hit hit = {.ctx = ctx, .slot = slot};
	struct beginning call;
	struct arrival a;
	bool entered;

	if (!entry_admit(at, task, slot, cookie, &a))
		return false;
	entry |= arrival_burst(&a);
	call = (struct beginning){&hit, function, entry, a.weight, a.role, 0};
	if (WIRE_CLOSES(entry)) {
		frame_pass(at, &call, (cookie >> WIRE_COOKIE_VALUES) & 0xff);
		callstack_unlock(at->callstack);
		return false;
	}
	if (keep_values && !(WIRE_FRAME_FLAGS(entry) & WIRE_ENTRY_UNLESS))
		call.entry |= ((cookie >> WIRE_COOKIE_VALUES) & 0xff) << WIRE_FRAME_LIST;
	entered = frame_enter(at, &call);
	if (entered && !returns_spared && (WIRE_FRAME_FLAGS(entry) & WIRE_ENTRY_RETURN) &&
	    returns_exhausted())
		at->callstack->deep++;
	callstack_unlock(at->callstack);
	return entered;
}

/* `function`, whose slot the call of frame `top` has, is left: it may have gone on in that one,
 * which has left unseen. Returns the innermost frame. */
static __always_inline struct wire_frame *
whole_settle(const struct place *at, struct wire_frame *top, u32 function, u64 now)
{
	const struct wire_frame *caller = frame_at(top->up);

	if (!keep_whole || !caller || caller->slot != top->slot || caller->function != function)
		return top;
	frames_close(at->number, WIRE_COST_NONE, now, CLOSE_LEFT);
	return frame_at(at->callstack->top);
}

/* A leave that a probe has seen. */
struct leaving {
	u32 function;
	u32 exit;   /* the probe's cost class */
	bool jumps; /* by a WIRE_EXIT_GOES_ON */
	u64 now;
};

/* A function is left, with its result in registers `ctx` (NULL: there is none yet). A leave whose
 * enter was not recorded, or that has been closed already, has no frame and is ignored: then false
 * is returned. */
static __always_inline bool frame_leave(const struct place *at, struct pt_regs *ctx,
					const struct leaving *l)
{
	struct wire_frame *top = frame_at(at->callstack->top);
	bool found;

	if (top)
		top = unwind_below(at->number, at->callstack, top, at->slot, l->now);
	if (!top || top->slot != at->slot)
		return false;
	if (top->function != l->function)
		top = whole_settle(at, top, l->function, l->now);
	found = top && top->function == l->function;
	if (found) {
		if (l->jumps && is_whole(l->function)) {
			const struct wire_cost *cost = cost_of(l->exit);

			top->entry |= WIRE_FRAME_JUMPED;
			frame_charge(at->callstack, top, cost->inside_ns + cost->outside_ns);
			return true;
		}
		if (keep_values && ctx && WIRE_FRAME_VALUES(top->entry))
			values_leave(ctx, WIRE_FRAME_VALUES(top->entry), at->callstack->top);
		frame_returned(at->callstack, top, l->now, l->exit);
		if (has_regions)
			regions_settle(at->number, at->callstack, frame_at(at->callstack->top),
				       l->now);
	}
	if (!l->jumps)
		jumped_settle(at, l->now);
	return found;
}

/*
 * An exit was hit in no call of its function, which is counted. Where a function's code goes on
 * without its entry, as Haskell's does at an address that it has handed out, that may be each round
 * of a loop: one call, and 6,000,000 such hits. Or another link has seen this hit, while functions
 * move: so nobody is charged.
 */
static __always_inline void stray_exit(u32 function)
{
	u32 place = counter_place(counters_here(), function);
	/* Without a trigger no call is recorded; but behind it they are to be. */
	u64 *seen = has_triggers || function >= function_modes_cap
			    ? 0
			    : bpf_map_lookup_elem(&strays, &place);

	if (seen)
		count_up(seen);
}

/* A function is left; its return address lay at `slot`. */
static __always_inline void leave(struct pt_regs *ctx, u64 slot, const struct leaving *l)
{
	struct place at;

	if (!gate_is_open() || !place_find(&at, slot, false))
		return;
	frame_leave(&at, ctx, l);
	callstack_unlock(at.callstack);
}

/* A probe at an exit of a function was hit: as leave(), or, `in_vain`, it stands on a branch that
 * went the other way. */
static __always_inline void exit_hit(struct pt_regs *ctx, u64 slot, const struct leaving *l,
				     bool in_vain)
{
	const struct wire_cost *cost = cost_of(l->exit);
	struct wire_frame *top;
	struct place at;

	if (!gate_is_open())
		return;
	if (!place_find(&at, slot, false)) {
		u32 tgid = current_process();

		if (!filter_tgids || bpf_map_lookup_elem(&tgids, &tgid))
			stray_exit(l->function);
		return;
	}
	top = frame_at(at.callstack->top);
	if (!in_vain) {
		if (!frame_leave(&at, ctx, l))
			stray_exit(l->function);
	} else if (top && top->function == l->function) {
		frame_charge(at.callstack, top, cost->inside_ns + cost->outside_ns);
	}
	callstack_unlock(at.callstack);
}

/* The word that a session link keeps of a call: bits 0..23 the function, 32..48 the call stack,
 * and 49..63 which of its lives it was in, as the entry may be another thread's by the time of the
 * return. */
#define SESSION_CALLSTACK(CALL) ((u32)((CALL) >> 32) & 0x1ffff)
#define SESSION_LIFE(CALL)	((u32)((CALL) >> 49))
#define SESSION_FUNCTION(CALL)	((u32)((CALL)&WIRE_COOKIE_FUNCTION))

static __always_inline u64 session_word(const struct place *at, u32 function)
{
	return (u64)at->callstack->lives << 49 | (u64)at->number << 32 | function;
}

/* A process that is traced has made another one. */
bool children_made = false;

/* As leave(), but by a return probe that knows the call stack on which the call was entered. */
static __always_inline void leave_callstack(struct pt_regs *ctx, u64 call, u64 slot, u64 now)
{
	const struct leaving l = {
		.function = SESSION_FUNCTION(call), .exit = WIRE_COST_RETURN, .now = now};
	u32 number = SESSION_CALLSTACK(call);
	struct place at = {.callstack = callstack_at(number), .number = number, .slot = slot};

	if (!gate_is_open() || !at.callstack ||
	    (at.callstack->lives & 0x7fff) != SESSION_LIFE(call))
		return;
	/* A forked child brings its parent's pending returns along. Where links are bound to a
	 * process, the kernel has sorted it out already. */
	if (links_unbound && children_made && at.callstack->owner >> 32 != current_process())
		return;
	if (at.callstack->kind != WIRE_CALLSTACK_THREAD && !callstack_lock(at.callstack))
		return;
	frame_leave(&at, ctx, &l);
	callstack_unlock(at.callstack);
}

/* A thread that was known by another number becomes the leader of a new program: the kernel has
 * ended all others, and this one's old number is gone without an exit. */
static __always_inline void thread_becomes_leader(u64 old_pid_tgid)
{
	u64 now = bpf_ktime_get_ns();
	struct wire_callstack *thread_stack;
	u32 number;

	thread_stack = thread_stack_known(old_pid_tgid, &number);
	if (!thread_stack)
		return;
	if (gate_is_open())
		unwind_all(number, now);
	bpf_map_delete_elem(&stack_of_tid, &old_pid_tgid);
	callstack_ends(thread_stack, now);
}

/* The current thread replaces its program: its frames are gone. */
static __always_inline void thread_exec(void)
{
	struct wire_callstack *thread_stack;
	u32 number;

	process_unwind();
	thread_stack = thread_stack_known(current_thread(), &number);
	if (!thread_stack)
		return;
	if (gate_is_open())
		unwind_all(number, bpf_ktime_get_ns());
	thread_stack->current = number;
	seed_forget(thread_stack);
	thread_stack->lo = thread_stack->hi = thread_stack->anchor = 0;
	thread_stack->sigstack = thread_stack->signal_lo = thread_stack->signal_hi = 0;
	thread_stack->signal_disarms = 0;
	bpf_get_current_comm(thread_stack->comm, sizeof(thread_stack->comm));
}

/* The current thread is recorded no longer, on its thread stack and its signal stack. */
static __always_inline void thread_stack_ends(void)
{
	u64 pid_tgid = current_thread(), now = bpf_ktime_get_ns();
	struct wire_callstack *thread_stack, *signal;
	u32 number;

	thread_stack = thread_stack_known(pid_tgid, &number);
	if (!thread_stack)
		return;
	bpf_get_current_comm(thread_stack->comm, sizeof(thread_stack->comm));
	bpf_map_delete_elem(&stack_of_tid, &pid_tgid);
	thread_stack_forget(pid_tgid, number);
	signal = callstack_at(thread_stack->signal);
	if (thread_stack->signal && signal && signal->owner == pid_tgid &&
	    callstack_is(signal, WIRE_CALLSTACK_SIGNAL, pid_tgid >> 32))
		callstack_ends(signal, now);
	callstack_ends(thread_stack, now);
}

/* The current thread ends, `last`: as the last of its process. Its open frames stay for user space
 * to account for. */
static __always_inline void thread_exit(bool last)
{
	if (last)
		process_sweep();
	thread_stack_ends();
}

#endif
