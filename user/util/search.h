/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_UTIL_SEARCH_H
#define PROFTRACE_UTIL_SEARCH_H

#include <stddef.h>

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

#endif
