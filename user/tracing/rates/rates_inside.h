/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of looks. Inside rates/ only. */
#ifndef PROFTRACE_RATES_RATES_INSIDE_H
#define PROFTRACE_RATES_RATES_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rates/rate.h"
#include "rates/sums.h"

enum clock { BY_TIME, BY_READS, BY_WRITES, CLOCKS };

/* By CPU time all windows count as if they were this long: rates change from moment to moment, so
 * those that were cut short, as so much was called, are no worse. */
#define LOOK_NS 6e6

/* A look's length by one clock, and what counting has taken of that, in ns: of reads and writes so
 * many for each as in the first window, so that lengths are of the same order by all clocks. */
struct length {
	double ns; /* 0: not known */
	double cost_ns;
	double counts; /* how many times it counts */
};

/* Windows' figures of a function, by one clock. */
struct windows {
	struct sums sums;
	struct length all; /* each as often as it counts */
	double counted_ns; /* own length as it was */
};

/* Groups of bursts whose calls are told apart: the first one, the seventeenth and so on are one. */
#define MOMENTS 16

struct function {
	double guess;
	struct windows by[CLOCKS];
	/* Roots of its calls' shares by class of threads, in bursts; and which are above 0, a bit
	 * each: mostly one or two. */
	double threads[RATES_THREADS];
	uint64_t classes;
	/* By group of bursts: calls, their roots, and (a bit each) whether one was without it. */
	double calls[MOMENTS], roots[MOMENTS];
	uint32_t missed;
};

struct window_calls {
	uint32_t function;
	double calls;
};

/* A window, right before a burst. */
struct window {
	size_t cnt;
	struct length lengths[CLOCKS];
	struct window_calls of[];
};

#define NOT_SEEN -1

struct burst {
	struct window *before; /* NULL: none was */
	uint32_t cnt;
	/* NOT_SEEN: the function had no probe. Those of many bursts, put together, would not fit
	 * into 32-bit numbers after some ten hours of a function that is called all the time. */
	float calls[];
};

/* A wide window: calls of some functions, in a time that those of them tell that other
 * windows know. */
struct wide {
	size_t cnt;
	struct window_calls of[];
};

struct rates {
	struct function *functions;
	size_t cnt, cap;
	struct wide **wide; /* those of all so far that were drawn to be kept */
	size_t wide_cnt, wide_cap;
	size_t wide_added; /* in all */
	uint32_t seed;	   /* of what is drawn */
	struct burst **bursts;
	size_t bursts_cnt, bursts_cap;
	size_t bursts_added;   /* in all */
	struct window *last;   /* NULL: a burst has it */
	double ns_per[CLOCKS]; /* 0: no window has been that long */
};

/* How many times a window counts that was so long by a clock. Calls by reads and writes hold from
 * moment to moment, so longer ones tell more. */
static inline double window_counts(enum clock clock, double own_ns)
{
	return clock == BY_TIME ? LOOK_NS / own_ns : 1;
}

/* How much of what is known of one function tells of another: 1 if the same threads call them, as
 * much more often in all bursts, 0 if no thread calls both, or no burst has met both. */
double functions_alike(const struct function *f, const struct function *g);
/* Whether the same threads call two functions, whenever they do: 1 to 0, as functions_alike(). */
double functions_share_threads(const struct function *f, const struct function *g);

#endif
