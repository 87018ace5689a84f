/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_UTIL_CLOCK_H
#define PROFTRACE_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The time of a clock, in ns. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
