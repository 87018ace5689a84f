/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers and writers of a pthread_rwlock_t of glibc's, told apart by the word that they wait at
 * and by the value that they wait for. Example: of `cache_lock` at 0x5000 a thread waits at 0x5008,
 * its member __wrphase_futex, for another value than 3: as a reader.
 */
#ifndef PROFTRACE_TIMELINE_RWLOCKS_H
#define PROFTRACE_TIMELINE_RWLOCKS_H

#include <stdint.h>

struct recorded_wait;

/* If `word` is the name of an rwlock's word: sets the wait's kind to WAIT_OBJECT_READ or
 * WAIT_OBJECT_WRITE and its object to the begin of the rwlock. Else the wait stays as it is. A
 * question mark before the name ("?__wrphase_futex"): the word lies where an rwlock would have it,
 * and is a mutex's if the wait is for the value of one. */
void rwlock__tell(struct recorded_wait *w, const char *word);

/* WAIT_OBJECT_READ or WAIT_OBJECT_WRITE of the C library's functions that wait for an rwlock, as
 * "__pthread_rwlock_timedwrlock64"; else WAIT_OBJECT_NONE. */
uint32_t rwlock__role(const char *function);

#endif
