/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an event takes place: from a slot to the lane that it is on. */
#ifndef PROFTRACE_PLACES_BPF_H
#define PROFTRACE_PLACES_BPF_H

#include "goroutines.bpf.h"
#include "stacks.bpf.h"

/* Notes where the thread's signal stack is. While a handler runs that was set up with
 * SS_AUTODISARM, the kernel has none; it is still the one from before. */
static __always_inline void signal_stack_note(const struct task_struct *task,
					      struct wire_lane *home)
{
	u64 lo = FIELD(task, sas_ss_sp), hi = lo + FIELD(task, sas_ss_size);

	home->sigstack = lo;
	if (!lo && home->signal_disarms)
		return;
	home->signal_disarms = !!(FIELD(task, sas_ss_flags) & SS_AUTODISARM);
	if (lo == home->signal_lo && hi == home->signal_hi)
		return;
	home->signal_lo = lo;
	home->signal_hi = hi;
	home->checked = 0;
}

static __always_inline u32 signal_lane(struct wire_lane *home, bool create)
{
	struct wire_lane *lane = lane_at(home->signal);

	if (!home->signal || !lane || lane->owner != home->pid_tgid ||
	    !lane_is(lane, WIRE_LANE_SIGNAL, home->owner >> 32)) {
		if (!create)
			return 0;
		home->signal = lane_new_beside(home->owner, WIRE_LANE_SIGNAL);
	}
	lane_bounds(home->signal, home->signal_lo, home->signal_hi, ALWAYS);
	return home->signal;
}

/* The thread goes on to another lane. Back where a handler on the signal stack had interrupted it,
 * what is open there has been jumped out of. */
static __always_inline void lane_changed(struct wire_lane *home, u32 to)
{
	struct wire_lane *signal = lane_at(home->signal);

	if (signal && home->signal) {
		if (to == home->signal) {
			if (signal->top == signal->bottom)
				signal->under = home->current;
		} else if (to == signal->under && signal->top != signal->bottom &&
			   signal->owner == home->pid_tgid && lane_lock(signal)) {
			unwind_all(home->signal, bpf_ktime_get_ns());
			lane_unlock(signal);
		}
	}
	home->current = to;
}

/* The lane of an address, when it is not the one that the thread was on last. 0: none. */
__noinline u32 lane_switch(u32 home_number, u64 address, u32 create)
{
	struct wire_lane *home = lane_at(home_number);
	u32 number;

	if (!home)
		return 0;
	signal_stack_note(current_task(), home);
	if (within(address, home->signal_lo, home->signal_hi)) {
		number = signal_lane(home, create);
		if (!number)
			number = home_instead(home_number, home, address, create);
	} else {
		number = lane_remembered(home_number, home, address);
		if (!number)
			number = lane_search(home_number, address, create);
	}
	if (number && number != home->current)
		lane_changed(home, number);
	return number;
}

/* Another thread is on the lane: its mapping holds more than one stack. */
static __always_inline void lane_conflict(const struct wire_lane *lane)
{
	struct stack *stack = stack_at(lane->stack);

	if (lane->busy & WIRE_BUSY_ENDED)
		return; /* user space has ended it just now */
	if (lane->kind == WIRE_LANE_STACK && stack && stack->kind == STACK_MAPPED)
		stack->shared = true;
}

/* Whether a lane that was found and locked is still one of the process, and no thread's home. */
static __always_inline bool lane_is_beside(const struct wire_lane *lane, u32 tgid)
{
	return lane->kind != WIRE_LANE_HOME && lane->owner >> 32 == tgid && !lane->exit_ns;
}

/* Finds the lane of the current thread, whose home is known, at `slot` and locks it; made if
 * `create`. */
static __always_inline bool place_of(struct place *at, const struct task_struct *task,
				     struct wire_lane *home, u32 home_number, u64 slot, bool create)
{
	u32 from = home->current;

	if (go_traced && goroutine_find(at, task, home, slot, create)) {
		home_goes(home, home_number, from, at->lane);
		return true;
	}
	at->slot = slot;
	at->number = home->current;
	at->lane = at->number == home_number ? home : lane_at(at->number);
	if (at->lane && within(slot, at->lane->lo, at->lane->hi) &&
	    at->lane->checked >= stacks_known && home->sigstack == FIELD(task, sas_ss_sp)) {
		if (at->number == home_number)
			return true;
		if (lane_lock(at->lane)) {
			if (lane_is_beside(at->lane, FIELD(task, tgid)) &&
			    within(slot, at->lane->lo, at->lane->hi))
				return true;
			lane_unlock(at->lane);
		}
	}
	from = home->current;
	at->number = lane_switch(home_number, slot, create);
	at->lane = lane_at(at->number);
	if (!at->number || !at->lane)
		return false;
	if (at->number != home_number) {
		if (lane_lock(at->lane)) {
			if (lane_is_beside(at->lane, FIELD(task, tgid)))
				goto found;
			lane_unlock(at->lane);
		} else {
			lane_conflict(at->lane);
		}
		home->current = at->number = home_instead(home_number, home, slot, true);
		at->lane = home;
	}
found:
	home_goes(home, home_number, from, at->lane);
	return true;
}

/* Finds the lane of the current thread at `slot` and locks it, as place_of(), of a thread whose
 * home is not known yet. */
static __always_inline bool place_find(struct place *at, u64 slot, bool create)
{
	const struct task_struct *task = current_task();
	struct wire_lane *home;
	u32 number;

	home = home_current(task, create, &number);
	return home && place_of(at, task, home, number, slot, create);
}

#endif
