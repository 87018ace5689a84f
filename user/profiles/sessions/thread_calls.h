/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of all threads in some stretches of time: what a thread did at a moment. Single calls
 * are walked, never held (timeline/timeline.h); these few are, to be looked at in any order.
 */
#ifndef PROFTRACE_SESSIONS_THREAD_CALLS_H
#define PROFTRACE_SESSIONS_THREAD_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct profile;
struct profile_thread;
struct single_wait;
struct waits;

struct time_window {
	uint64_t from_ns, to_ns;
};

struct held_call {
	uint64_t enter_ns, leave_ns;
	uint32_t caller; /* in thread_calls::calls, from 1 on; 0: outermost */
	uint32_t function;
};

/* The calls of one call stack of a thread, in order of their begins. */
struct held_stack {
	pid_t pid;
	int64_t id;
	size_t first, cnt;
};

/* All zero: no calls. */
struct thread_calls {
	struct held_call *calls;
	size_t calls_cnt, calls_cap;
	struct held_stack *stacks; /* by pid and id */
	size_t stacks_cnt;
	const struct profile *p;
};

/* A number that tells threads of a process apart: 1234 of thread 1234, -7 of goroutine 7. */
int64_t thread_calls__id(const struct profile_thread *thread);

/* Walks the profile's calls and holds those that overlap a window, and of each call stack the last
 * outermost one before each window; `windows` are sorted by this call. Of more than two million
 * calls the others are left out. Returns 0, -ENOMEM or the timeline's error; thread_calls__fini()
 * frees what *out has, also then. */
int thread_calls__read(const struct profile *p, struct time_window *windows, size_t cnt,
		       struct thread_calls *out);
void thread_calls__fini(struct thread_calls *t);

/* A thread's place at some moment. */
struct held_place {
	uint32_t function; /* of the innermost call; UINT32_MAX: in none, or none is held */
	uint32_t caller;   /* of that call's caller; UINT32_MAX: it has none */
	uint64_t since_ns; /* from when on it was there without a break; 0: nothing was before */
};

/* The thread's innermost call right before `at_ns`. */
struct held_place thread_calls__before(const struct thread_calls *t, pid_t pid, int64_t id,
				       uint64_t at_ns);

/*
 * The function that has made a thread end a wait, where the waker's innermost call tells less than
 * one that has just ended: f() that ends with a jump to the unlock function has ended when that one
 * wakes a waiter, and so has a thread's function when its end wakes who joins it. The wait's time
 * is in a window. UINT32_MAX: there is none, or calls of that thread were lost, or the function has
 * no name.
 */
uint32_t thread_calls__jumped_from(const struct thread_calls *t, const struct waits *waits,
				   const struct single_wait *wait);

#endif
