/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts: dropped functions are recorded for a moment, on paths of their own. Which calls are in
 * one, and when those end whose probes go before they leave (docs/internals/bursts.md).
 */
#ifndef PROFTRACE_BURSTS_BPF_H
#define PROFTRACE_BURSTS_BPF_H

#include "tables.bpf.h"

const volatile bool has_bursts = false;
u32 bursting = WIRE_BURST_OFF;
u32 burst_serial = 0; /* of the last burst; up to WIRE_BURST_SERIALS */
/* CLOCK_MONOTONIC: bursts up to then are over; their open calls end at the next event. */
u64 bursts_gone_ns = 0;
/* When each of the last bursts ended, by its serial modulo their number. The one that goes on has
 * the end of the one that had its place before. */
u64 burst_ends_ns[WIRE_BURSTS] = {};

/* Whether the kernel counts the system calls by which a thread reads and writes: read(2), write(2)
 * and their like (pread, writev, sendfile; not recv and send). */
static __always_inline bool counts_io(const struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.syscr);
}

/* System calls of the current thread so far: how often it has read, written or waited. */
static __always_inline u32 system_calls_begun(void)
{
	const struct task_struct *task = current_task();
	u32 begun = FIELD(task, nvcsw);

	return counts_io(task) ? begun + FIELD(task, ioac.syscr) + FIELD(task, ioac.syscw) : begun;
}

/* The next part of a thread in the burst, by the burst's phase and the thread's part so far.
 * `same`: the thread has made no system call since that part began. A thread that is awaited as the
 * burst begins, say, is recorded from its next read() on. */
static __always_inline u32 burst_part(u32 phase, u32 part, bool same)
{
	if (part == WIRE_BURST_AWAITED && phase != WIRE_BURST_ENDS)
		return phase == WIRE_BURST_BEGINS && same ? part : WIRE_BURST_RECORDED;
	if (part == WIRE_BURST_RECORDED && phase == WIRE_BURST_ENDS)
		return WIRE_BURST_LEAVING;
	return part == WIRE_BURST_LEAVING && !same ? WIRE_BURST_LEFT : part;
}

/* Whether the burst that is being taken, and is in that phase, has what the current thread calls
 * now. */
static __always_inline bool thread_in_burst(u32 number, u32 phase)
{
	u32 serial = burst_serial, begun, part, was;
	struct wire_callstack *thread_stack = callstack_at(number);
	u64 word;

	if (!thread_stack || phase == WIRE_BURST_OFF)
		return false;
	begun = system_calls_begun();
	word = thread_stack->in_burst;
	if (WIRE_IN_BURST_SERIAL(word) != serial)
		word = WIRE_IN_BURST(serial, WIRE_BURST_AWAITED, begun);
	was = WIRE_IN_BURST_PART(word);
	part = burst_part(phase, was, WIRE_IN_BURST_CALLS(word) == begun);
	if (part != was)
		word = WIRE_IN_BURST(serial, part, begun);
	thread_stack->in_burst = word;
	return part == WIRE_BURST_RECORDED || part == WIRE_BURST_LEAVING;
}

#define MOST_STALE 32 /* frames on top of a call stack that are looked at */

/* Whether the frame was entered in a burst. */
static __always_inline bool is_of_burst(__attribute__((unused)) const struct wire_frame *f)
{
#ifdef PROFTRACE_BASIC
	return false; /* there are none on these kernels */
#else
	return has_bursts && (f->entry & WIRE_FRAME_BURST);
#endif
}

/* Whether nobody will see the frame leave, as its burst is over. */
static __always_inline bool is_stale(const struct wire_frame *f)
{
	return is_of_burst(f) && f->entered_ns < bursts_gone_ns;
}

/* When the burst ended that the call was entered in: from then on it may have left unseen, as
 * probes go one after the other. 0: it goes on, or the call is of none. */
static __always_inline u64 burst_end(const struct wire_frame *f)
{
	u64 end;

	if (!is_of_burst(f))
		return 0;
	end = burst_ends_ns[WIRE_FRAME_BURST_NUM(f->entry)];
	return f->entered_ns < end ? end : 0;
}

/* When a call ended, as far as it is known, whose burst is over: that did, or its last callee.
 * Waits of its thread are its caller's from then on, too: see innermost_known(). */
static __always_inline u64 stale_end(const struct wire_frame *f, u64 burst_end_ns, u64 now)
{
	u64 end = f->entered_ns + f->child_ns;

	if (end < burst_end_ns)
		end = burst_end_ns;
	return end < now ? end : now;
}

/* A search for the innermost frame that is still there for sure. */
struct known_search {
	u32 number;
};

static __always_inline long known_step(__attribute__((unused)) u32 i, struct known_search *s)
{
	const struct wire_frame *f = frame_at(s->number);

	if (!f || !burst_end(f))
		return 1;
	s->number = f->up;
	return 0;
}

/* The innermost frame from `number` outwards that is still there for sure. A global function: the
 * verifier looks at it once, and not on each way to it through a program. */
__noinline u32 frame_known(u32 number)
{
	struct known_search s = {.number = number};

	LOOP(MOST_STALE, known_step, &s);
	return s.number;
}

/* The call stack's innermost frame that is still there for sure: what a thread does that has made
 * no call since the burst is its caller's. */
static __always_inline u32 innermost_known(const struct wire_callstack *callstack)
{
	return has_bursts ? frame_known(callstack->top) : callstack->top;
}

#endif
