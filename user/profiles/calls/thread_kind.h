/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of one kind have names that differ by a number at their end, as worker-17 has. */
#ifndef PROFTRACE_CALLS_THREAD_KIND_H
#define PROFTRACE_CALLS_THREAD_KIND_H

#include <stddef.h>
#include <string.h>

/* The length of a thread's name up to its number; all of it if it has none. */
static inline size_t thread_kind__len(const char *comm)
{
	size_t len = strlen(comm), digits = 0;

	while (digits < len && comm[len - 1 - digits] >= '0' && comm[len - 1 - digits] <= '9')
		digits++;
	if (!digits || digits == len || !strchr("-_:/# ", comm[len - 1 - digits]))
		return len;
	return len - digits;
}

#endif
