/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a function is called. */
#ifndef PROFTRACE_RATES_RATE_H
#define PROFTRACE_RATES_RATE_H

#include <stdbool.h>

#define RATES_THREADS 64 /* classes of threads are told apart */

struct rate {
	double per_ns;	 /* calls in a ns of own CPU time */
	double variance; /* of that, relative: 0.01 is a standard error of 10 % */
	double by_io;	 /* how likely calls go by reads or writes, 0 to 1 */
	bool guessed;	 /* no look has met any */
};

/* How much CPU time the target has had, and how often it has read and written. */
struct lengths {
	double cpu_ns, reads, writes;
	double unbalanced; /* of a window: the logarithm of its reads for each write, by the run's
			    */
};

#endif
