/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time of all threads by the reason of waits, as 3.5 s for "[poll]", in runs that look at waits. */
#ifndef PROFTRACE_VIEWS_WAIT_TIMES_H
#define PROFTRACE_VIEWS_WAIT_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct profile;

#define WAIT_TIMES_MAX 16 /* more than there are reasons */

struct wait_times {
	struct wait_time {
		const char *reason; /* "[poll]"; borrowed from the profile */
		uint64_t ns;
	} items[WAIT_TIMES_MAX]; /* the longest first */
	size_t cnt;		 /* 0: no waits are known */
	uint64_t threads_ns;	 /* wall time of all threads that are in trees */
};

void wait_times__sum(const struct profile *p, struct wait_times *out);

#endif
