/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switching off while the target runs. User space closes the gate, waits until no program that has
 * found it open is left, and has close_open() run: what is open is closed as unwound, as of the
 * moment when the gate was closed. So no call stack has a frame while tracing is off, what ends
 * meanwhile or after finds none, and nobody is charged for the pause. Until the gate opens again
 * nothing else touches a frame.
 */
#ifndef PROFTRACE_SWITCH_BPF_H
#define PROFTRACE_SWITCH_BPF_H

#include "sched.bpf.h"

u64 closed_ns = 0; /* when the gate was closed */

/* Whether the call stack had a thread, or a process, when the gate was closed. The open frames of
 * others stay: they are accounted for as open. */
static __always_inline bool callstack_outlived(const struct wire_callstack *callstack, u64 now)
{
	return callstack->state == WIRE_CALLSTACK_READY &&
	       (!callstack->exit_ns || callstack->exit_ns > now);
}

/* Who waits has waited in what is the innermost call up to now. */
static __always_inline long close_wait(u32 number, u64 now, __attribute__((unused)) u32 tgid)
{
	struct wire_callstack *callstack = callstack_at(number);

	if (!callstack)
		return 1;
	if (callstack->kind == WIRE_CALLSTACK_THREAD && callstack_outlived(callstack, now))
		thread_stack_resumes(callstack, number, now);
	return 0;
}

static __always_inline long close_callstack(u32 number, u64 now, __attribute__((unused)) u32 tgid)
{
	struct wire_callstack *callstack = callstack_at(number);

	if (!callstack)
		return 1;
	/* Spans are closed with what they are beside. */
	if (callstack->kind != WIRE_CALLSTACK_SPANS && callstack_outlived(callstack, now))
		unwind_all(number, now);
	return 0;
}

EACH_CALLSTACK(close_waits, close_wait)
EACH_CALLSTACK(close_callstacks, close_callstack)

static __always_inline void close_all(void)
{
	close_waits(closed_ns, 0);
	close_callstacks(closed_ns, 0);
}

#endif
