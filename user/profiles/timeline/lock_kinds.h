/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of locks that threads wait for in the C library's functions: a mutex, a condition variable
 * and so on. */
#ifndef PROFTRACE_TIMELINE_LOCK_KINDS_H
#define PROFTRACE_TIMELINE_LOCK_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of waits by a futex, as far as the libc's function says. */
enum lock_kind {
	KIND_LOCK, /* or another one, which nobody knows */
	KIND_CONDITION,
	KIND_SEMAPHORE,
	KIND_RWLOCK,
	KIND_BARRIER,
	KIND_THREAD,  /* which is to end */
	KIND_UNKNOWN, /* any of these, of a single wait */
};

/* Returns whether the C library's function, as "__pthread_cond_wait", waits by a futex, with the
 * kind of what it waits for. */
bool lock_kind__of(const char *function, enum lock_kind *kind);

/* The address by which a lock goes of which threads have waited at `address`. Of glibc's condition
 * variables, barriers and rwlocks that is either word of a pair: both go by the first. */
uint64_t lock_kind__address(enum lock_kind kind, uint64_t address);

#endif
