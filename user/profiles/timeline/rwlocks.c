// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline/rwlocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "timeline/stream.h"
#include "timeline/waits.h"

/*
 * Words of glibc's struct __pthread_rwlock_arch_t, since glibc 2.25. At __wrphase_futex readers
 * wait until writers are done (value 1 | 2, where 2 says that somebody waits), and the next writer
 * waits until readers are done (value 0 | 2): the kernel takes that 2 for a mutex's. At
 * __writers_futex other writers wait; at __readers readers, where writers are preferred.
 */
static const struct {
	const char *name;
	uint32_t offset;
	/* enum wait_object, by the wait's kind: WAIT_OBJECT_FUTEX, WAIT_OBJECT_LOCK. */
	uint32_t of_futex, of_lock;
} words[] = {
	{"__readers", 0, WAIT_OBJECT_READ, WAIT_OBJECT_READ},
	{"__wrphase_futex", 8, WAIT_OBJECT_READ, WAIT_OBJECT_WRITE},
	{"__writers_futex", 12, WAIT_OBJECT_WRITE, WAIT_OBJECT_WRITE},
	{"?__wrphase_futex", 8, WAIT_OBJECT_READ, WAIT_OBJECT_NONE},
	{"?__writers_futex", 12, WAIT_OBJECT_WRITE, WAIT_OBJECT_NONE},
};

void rwlock__tell(struct recorded_wait *w, const char *word)
{
	bool is_lock = w->kind == WAIT_OBJECT_LOCK;

	if (!is_lock && w->kind != WAIT_OBJECT_FUTEX)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint32_t role = is_lock ? words[i].of_lock : words[i].of_futex;

		if (role == WAIT_OBJECT_NONE || strcmp(words[i].name, word))
			continue;
		w->kind = role;
		w->object -= words[i].offset;
		return;
	}
}

uint32_t rwlock__role(const char *function)
{
	static const char prefix[] = "pthread_rwlock_";

	function += strspn(function, "_");
	if (strncmp(function, prefix, strlen(prefix)))
		return WAIT_OBJECT_NONE;
	return strstr(function, "rdlock")   ? WAIT_OBJECT_READ
	       : strstr(function, "wrlock") ? WAIT_OBJECT_WRITE
					    : WAIT_OBJECT_NONE;
}
