/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an event takes place: from a slot to the call stack that it is on. */
#ifndef PROFTRACE_PLACES_BPF_H
#define PROFTRACE_PLACES_BPF_H

#include "goroutines.bpf.h"
#include "stacks.bpf.h"

/* Notes where the thread's signal stack is. While a handler runs that was set up with
 * SS_AUTODISARM, the kernel has none; it is still the one from before. */
static __always_inline void signal_stack_note(const struct task_struct *task,
					      struct wire_callstack *thread_stack)
{
	u64 lo = FIELD(task, sas_ss_sp), hi = lo + FIELD(task, sas_ss_size);

	thread_stack->sigstack = lo;
	if (!lo && thread_stack->signal_disarms)
		return;
	thread_stack->signal_disarms = !!(FIELD(task, sas_ss_flags) & SS_AUTODISARM);
	if (lo == thread_stack->signal_lo && hi == thread_stack->signal_hi)
		return;
	thread_stack->signal_lo = lo;
	thread_stack->signal_hi = hi;
	thread_stack->checked = 0;
}

static __always_inline u32 signal_callstack(struct wire_callstack *thread_stack, bool create)
{
	struct wire_callstack *callstack = callstack_at(thread_stack->signal);

	if (!thread_stack->signal || !callstack || callstack->owner != thread_stack->pid_tgid ||
	    !callstack_is(callstack, WIRE_CALLSTACK_SIGNAL, thread_stack->owner >> 32)) {
		if (!create)
			return 0;
		thread_stack->signal =
			callstack_new_beside(thread_stack->owner, WIRE_CALLSTACK_SIGNAL);
	}
	callstack_bounds(thread_stack->signal, thread_stack->signal_lo, thread_stack->signal_hi,
			 ALWAYS);
	return thread_stack->signal;
}

/* The thread goes on to another call stack. Back where a handler on the signal stack had
 * interrupted it, what is open there has been jumped out of. */
static __always_inline void callstack_changed(struct wire_callstack *thread_stack, u32 to)
{
	struct wire_callstack *signal = callstack_at(thread_stack->signal);

	if (signal && thread_stack->signal) {
		if (to == thread_stack->signal) {
			if (signal->top == signal->bottom)
				signal->under = thread_stack->current;
		} else if (to == signal->under && signal->top != signal->bottom &&
			   signal->owner == thread_stack->pid_tgid && callstack_lock(signal)) {
			unwind_all(thread_stack->signal, bpf_ktime_get_ns());
			callstack_unlock(signal);
		}
	}
	thread_stack->current = to;
}

/* The call stack of an address, when it is not the one that the thread was on last. 0: none. */
__noinline u32 callstack_switch(u32 thread_number, u64 address, u32 create)
{
	struct wire_callstack *thread_stack = callstack_at(thread_number);
	u32 number;

	if (!thread_stack)
		return 0;
	signal_stack_note(current_task(), thread_stack);
	if (within(address, thread_stack->signal_lo, thread_stack->signal_hi)) {
		number = signal_callstack(thread_stack, create);
		if (!number)
			number = thread_stack_instead(thread_number, thread_stack, address, create);
	} else {
		number = callstack_remembered(thread_number, thread_stack, address);
		if (!number)
			number = callstack_search(thread_number, address, create);
	}
	if (number && number != thread_stack->current)
		callstack_changed(thread_stack, number);
	return number;
}

/* Another thread is on the call stack: its mapping holds more than one stack. */
static __always_inline void callstack_conflict(const struct wire_callstack *callstack)
{
	struct stack *stack = stack_at(callstack->stack);

	if (callstack->busy & WIRE_BUSY_ENDED)
		return; /* user space has ended it just now */
	if (callstack->kind == WIRE_CALLSTACK_COROUTINE && stack && stack->kind == STACK_MAPPED)
		stack->shared = true;
}

/* Whether a call stack that was found and locked is still one of the process, and no thread's own
 * call stack. */
static __always_inline bool callstack_is_beside(const struct wire_callstack *callstack, u32 tgid)
{
	return callstack->kind != WIRE_CALLSTACK_THREAD && callstack->owner >> 32 == tgid &&
	       !callstack->exit_ns;
}

/* The current thread goes on to the call stack `number`, which it locks, from the one of its last
 * event; where another one is on that, the thread stack stands in. Returns the call stack that it
 * is on; 0: none. Global, so that the verifier looks at it once a program. */
__noinline u32 place_moves(u32 thread_number, u32 number, u32 from, u64 slot)
{
	struct wire_callstack *thread_stack = callstack_at(thread_number);
	struct wire_callstack *callstack = callstack_at(number);

	if (!number || !callstack || !thread_stack)
		return 0;
	if (number != thread_number) {
		if (callstack_lock(callstack)) {
			if (callstack_is_beside(callstack, current_process()))
				goto found;
			callstack_unlock(callstack);
		} else {
			callstack_conflict(callstack);
		}
		thread_stack->current = number =
			thread_stack_instead(thread_number, thread_stack, slot, true);
		callstack = thread_stack;
	}
found:
	thread_stack_goes(thread_stack, thread_number, from, callstack);
	return number;
}

/* Finds the call stack of the current thread, whose thread stack is known, at `slot` and locks it;
 * made if `create`. */
static __always_inline bool place_of(struct place *at, const struct task_struct *task,
				     struct wire_callstack *thread_stack, u32 thread_number,
				     u64 slot, bool create)
{
	u32 from = thread_stack->current;

	if (go_traced && goroutine_find(at, task, thread_stack, slot, create)) {
		thread_stack_goes(thread_stack, thread_number, from, at->callstack);
		return true;
	}
	at->slot = slot;
	at->number = thread_stack->current;
	at->callstack = at->number == thread_number ? thread_stack : callstack_at(at->number);
	if (at->callstack && within(slot, at->callstack->lo, at->callstack->hi) &&
	    at->callstack->checked >= stacks_known &&
	    thread_stack->sigstack == FIELD(task, sas_ss_sp)) {
		if (at->number == thread_number)
			return true;
		if (callstack_lock(at->callstack)) {
			if (callstack_is_beside(at->callstack, process_now(task)) &&
			    within(slot, at->callstack->lo, at->callstack->hi))
				return true;
			callstack_unlock(at->callstack);
		}
	}
	from = thread_stack->current;
	at->number = callstack_switch(thread_number, slot, create);
	at->number = place_moves(thread_number, at->number, from, slot);
	at->callstack = callstack_at(at->number);
	return at->number && at->callstack;
}

/* Finds the call stack of the current thread at `slot` and locks it, as place_of(), of a thread
 * whose thread stack is not known yet. */
static __always_inline bool place_find(struct place *at, u64 slot, bool create)
{
	const struct task_struct *task = current_task();
	struct wire_callstack *thread_stack;
	u32 number;

	thread_stack = thread_stack_current(task, create, &number);
	return thread_stack && place_of(at, task, thread_stack, number, slot, create);
}

#endif
