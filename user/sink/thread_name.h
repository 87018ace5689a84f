/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SINK_THREAD_NAME_H
#define PROFTRACE_SINK_THREAD_NAME_H

#include <inttypes.h>
#include <stdio.h>

#include "calls/profile.h"

#define THREAD_NAME_LEN 64 /* room for any thread's */

/* "comm-pid/tid", or "comm-pid/goroutine_N", in `buf`, which it returns; comm as it is. */
static inline char *thread__name(const struct profile_thread *t, char buf[THREAD_NAME_LEN])
{
	if (t->goroutine)
		snprintf(buf, THREAD_NAME_LEN, "%s-%d/goroutine_%" PRIu64, t->comm, t->pid,
			 t->goroutine);
	else
		snprintf(buf, THREAD_NAME_LEN, "%s-%d/%d", t->comm, t->pid, t->tid);
	return buf;
}

/* The number by which a process knows it: a goroutine is on no thread for long. */
static inline uint64_t thread__number(const struct profile_thread *t)
{
	return t->goroutine ? t->goroutine : (uint64_t)t->tid;
}

#endif
