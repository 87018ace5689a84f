/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often functions are called, from looks at them that last milliseconds, with errors.
 *
 * There are two kinds of looks:
 *
 *   A window counts a few functions by their entries alone. That costs the target little, so how
 *   long it was for the target is known well, and calls by that length are a rate.
 *   A burst records all of them at once. That costs so much that the target's own time cannot be
 *   told from the rest; but how often functions are called for each call of another holds. So the
 *   functions that windows know well tell how long a burst was.
 *
 * And a mixture of both: a wide window counts many functions by their entries, some of which other
 * windows know. These tell how long it was, as of a burst.
 *
 * A window's length is told by several clocks, and each makes rates of its own (by_clock.h):
 *
 *   Own CPU time: load that changes changes that time, which is known for the whole run, and the
 *   rate much less. But how much of it a request takes changes, too: with the frequency of the
 *   processor, with what others do to its caches, with what the host takes of it, and with our
 *   probes, whose cost is known to a fifth.
 *   Reads, and writes: a server reads and answers its requests, and its functions go by these.
 *
 *                   calls   own CPU time   in a ms   reads   for each
 *   a window        234     4.3 ms         54        236     0.99
 *   another         178     4.9 ms         36        178     1.00
 *   the whole run           6.2 s                    302,000          so 301,000 calls
 *
 * Which of them functions go by is told by those that were counted more than once (clocks.c): by
 * one clock their windows agree.
 */
#ifndef PROFTRACE_RATES_RATES_H
#define PROFTRACE_RATES_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rates/rate.h"

struct rates;

/* Calls of functions[0 .. cnt - 1] in a look. */
struct look_counts {
	const uint32_t *functions;
	const uint64_t *calls;
	size_t cnt;
};

int rates__new(struct rates **out); /* 0 or -ENOMEM */
void rates__free(struct rates *r);  /* accepts NULL */

/* Another function, whose number is the next one from 0 on; `per_ns` is what it is thought to be
 * called. Returns 0 or -ENOMEM. */
int rates__add(struct rates *r, double per_ns);

/* A window, of whose CPU time counting has taken `cost_ns`. */
void rates__add_window(struct rates *r, const struct look_counts *counts,
		       const struct lengths *lengths, double cost_ns);

/* A wide window. Returns 0 or -ENOMEM. */
int rates__add_wide(struct rates *r, const struct look_counts *counts);

/* A burst; `after_window`: right after the last window, so both saw the same mix of what is called.
 * Returns 0 or -ENOMEM. */
int rates__add_burst(struct rates *r, const struct look_counts *counts, bool after_window);

/* How often the function was called in bursts so far by each of RATES_THREADS classes of threads.
 */
void rates__set_threads(struct rates *r, uint32_t function, const double *calls);

/* Sets out[] for all functions. spans[]: for each, what the target has had, without what looks have
 * cost, while calls of the function are to be estimated. Returns 0 or -ENOMEM. */
int rates__estimate(const struct rates *r, const struct lengths *spans, struct rate *out);

#endif
