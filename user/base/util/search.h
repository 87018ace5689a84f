/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays in order. */
#ifndef PROFTRACE_UTIL_SEARCH_H
#define PROFTRACE_UTIL_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/*
 * The first of elements [0, cnt) for which `before` does not hold, `cnt` if it holds for all.
 * `before` speaks of element number `i`, and holds for none behind one for which it does not.
 */
#define LOWER_BOUND(cnt, i, before)                       \
	({                                                \
		size_t lo_ = 0, hi_ = (cnt);              \
		while (lo_ < hi_) {                       \
			size_t i = lo_ + (hi_ - lo_) / 2; \
			if (before)                       \
				lo_ = i + 1;              \
			else                              \
				hi_ = i;                  \
		}                                         \
		lo_;                                      \
	})

/* Like qsort(), for what mostly is in order already: if it is, one look is all, without a copy. */
static inline void sort_again(void *base, size_t cnt, size_t size,
			      int (*order)(const void *, const void *))
{
	const char *at = base;

	for (size_t i = 1; i < cnt; i++, at += size) {
		if (order(at, at + size) > 0) {
			qsort(base, cnt, size, order);
			return;
		}
	}
}

/* For qsort() and its kind: numbers of 64 bits, the smallest first. */
static inline int u64_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline int pid_order(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Puts process numbers in order and leaves each of them once. Returns how many are left. */
static inline size_t sort_pids_once(pid_t *pids, size_t cnt)
{
	size_t different = 0;

	qsort(pids, cnt, sizeof(*pids), pid_order);
	for (size_t i = 0; i < cnt; i++) {
		if (!different || pids[different - 1] != pids[i])
			pids[different++] = pids[i];
	}
	return different;
}

#endif
