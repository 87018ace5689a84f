/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of threads, and of the call stacks of one thread, by what identifies them. */
#ifndef PROFTRACE_CALLS_IDENTITY_H
#define PROFTRACE_CALLS_IDENTITY_H

#include "calls/profile.h"

/* An order of threads and goroutines, for sorting, whichever call stacks of theirs these are, but
 * spans behind calls; 0: they are the same. */
static inline int identity__compare_threads(const struct profile_thread *x,
					    const struct profile_thread *y)
{
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->goroutine != y->goroutine)
		return x->goroutine < y->goroutine ? -1 : 1;
	if (x->spans != y->spans)
		return x->spans < y->spans ? -1 : 1;
	return 0;
}

/* Orders call stacks: by thread, then by what tells the call stacks of one thread apart. */
static inline int identity__compare(const struct profile_thread *x, const struct profile_thread *y)
{
	int order = identity__compare_threads(x, y);

	if (order)
		return order;
	if (x->callstack_ns != y->callstack_ns)
		return x->callstack_ns < y->callstack_ns ? -1 : 1;
	return 0;
}

#endif
