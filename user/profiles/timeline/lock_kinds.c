// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline/lock_kinds.h"

#include <stddef.h>
#include <string.h>

/* By the begin of the name of a function of the libc's, without underscores before it. */
static const struct {
	const char *function;
	enum lock_kind kind;
} waiting_functions[] = {
	{"pthread_cond_", KIND_CONDITION},
	{"cnd_wait", KIND_CONDITION},
	{"cnd_timedwait", KIND_CONDITION},
	{"sem_wait", KIND_SEMAPHORE},
	{"sem_timedwait", KIND_SEMAPHORE},
	{"sem_clockwait", KIND_SEMAPHORE},
	{"new_sem_wait", KIND_SEMAPHORE},
	{"pthread_rwlock_", KIND_RWLOCK},
	{"pthread_barrier_", KIND_BARRIER},
	{"pthread_join", KIND_THREAD},
	{"pthread_timedjoin", KIND_THREAD},
	{"pthread_clockjoin", KIND_THREAD},
	{"thrd_join", KIND_THREAD},
	/* In pthread_cond_wait(), to get the mutex back. */
	{"pthread_mutex_", KIND_LOCK},
	{"lll_lock_", KIND_LOCK},
};

bool lock_kind__of(const char *function, enum lock_kind *kind)
{
	function += strspn(function, "_");
	for (size_t i = 0; i < sizeof(waiting_functions) / sizeof(*waiting_functions); i++) {
		const char *known = waiting_functions[i].function;

		*kind = waiting_functions[i].kind;
		if (!strncmp(function, known, strlen(known)))
			return true;
	}
	return false;
}

uint64_t lock_kind__address(enum lock_kind kind, uint64_t address)
{
	bool has_pairs = kind == KIND_CONDITION || kind == KIND_BARRIER || kind == KIND_RWLOCK;

	return has_pairs ? address & ~7ull : address;
}
