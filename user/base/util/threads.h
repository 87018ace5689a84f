/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares work out to a few threads, and waits until all of it is done. */
#ifndef PROFTRACE_UTIL_THREADS_H
#define PROFTRACE_UTIL_THREADS_H

#include <stddef.h>

#define THREADS_MAX 8

/* How many threads `items` pieces of work are worth, of which fewer than `least` are not worth one:
 * at least 1, at most THREADS_MAX, and no more than there are processors for this thread. */
size_t threads__for(size_t items, size_t least);

/* Calls run() with each of the `cnt` elements of an array, `size` bytes each, at the same time: the
 * first ones on threads of their own, the last one, and those that get no thread, on this one. */
void threads__run(void *elements, size_t cnt, size_t size, void (*run)(void *element));

#endif
