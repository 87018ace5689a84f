/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long calls took, as counts in buckets of at most 12.5 % width: each power of two is divided
 * into eight (log-linear, as in Gil Tene's HdrHistogram). Durations below eight nanoseconds have a
 * bucket each.
 */
#ifndef PROFTRACE_CALLS_DISTRIBUTION_H
#define PROFTRACE_CALLS_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/profile.h"

#define BUCKETS 496 /* of any duration below 2^64 ns */

/* The bucket that `ns` lies in. */
uint32_t bucket__of(uint64_t ns);

/* The bucket's bounds, [low, high) in ns. */
uint64_t bucket__low(uint32_t bucket);
uint64_t bucket__high(uint32_t bucket);

/*
 * A function's buckets: those of a run within profile::buckets. Single calls were charged with what
 * their probes cost in calibration, sums with what these are found to cost where they run: more
 * where caches are cold, or less. `excess_ns` is the difference, of a call on average; it is taken
 * out of single calls as they are shown, so that a mean of them and the sum are the same.
 */
struct distribution {
	const struct profile_bucket *buckets;
	size_t cnt;
	uint64_t calls;
	int64_t excess_ns;
	/* The buckets have the recorded calls only: the function was dropped, and its number of
	 * calls or its time are known for more of the run than these, by bursts or samples. */
	bool part;
	/* Durations say how long calls take: false where, of such a part, the probes took more time
	 * than the calls themselves, so that a duration is mostly what calibration has left. */
	bool tells;
	/* With `part`: what a call of the whole run takes on average. 0: not known. */
	uint64_t average_ns;
};

/* The calls that minimum, maximum and quantiles are of, in the word of the JSON contract: "all";
 * "recorded", as the budget has dropped the function; "unresolved", of these, but the probes took
 * more time than they did. */
const char *distribution__basis(const struct distribution *d);

struct distribution distribution__of(const struct profile *p, uint32_t function);

/* Whether a longest call, or a shortest one, is known by its bucket alone: in an interval it may be
 * the bound of the outermost bucket (views/delta.h). */
bool distribution__is_longest_bound(const struct distribution *d, uint64_t max_ns);
bool distribution__is_shortest_bound(const struct distribution *d, uint64_t min_ns);

/* How long a single call has taken, if `ns` was recorded. */
uint64_t distribution__single(const struct distribution *d, uint64_t ns);

/*
 * How long the function's shortest call has taken, its longest one, or 0 if none has finished;
 * `min_ns` and `max_ns`: of those that were recorded. Where these are a part of the run, the
 * average of all calls may lie outside of them: 20 calls of a burst took 220 to 900 ns, and the
 * average of 9,000,000 is 194 ns. Then the shortest call of all took no more than the average.
 */
uint64_t distribution__shortest(const struct distribution *d, uint64_t min_ns);
uint64_t distribution__longest(const struct distribution *d, uint64_t max_ns);

/*
 * *ns = what a call takes on average, if that is known. Where calls are an estimate of the whole
 * run, so must be the time: once the function has no probe, its time is known by samples, and by
 * fewer than three it is not. Else the average is of finished calls that were recorded, as
 * quantiles and maximum are; `error_ns`: what a call's time is uncertain by.
 */
bool distribution__average(const struct distribution *d, const struct profile_function *f,
			   uint64_t error_ns, uint64_t *ns);

/* The duration that a share `q` (0 to 1) of the calls does not exceed, interpolated in its bucket,
 * within [min_ns, max_ns]. 0 if there are no calls. */
uint64_t distribution__quantile(const struct distribution *d, double q, uint64_t min_ns,
				uint64_t max_ns);

/* Their mean, each call counted in the middle of its bucket, within [min_ns, max_ns]. 0 if there
 * are no calls. */
uint64_t distribution__mean(const struct distribution *d, uint64_t min_ns, uint64_t max_ns);

/* How much single calls vary: their standard deviation divided by their mean, each call counted in
 * the middle of its bucket. 0 if there are fewer than two. */
double distribution__variation(const struct distribution *d);

#endif
