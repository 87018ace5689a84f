/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often functions are called, from looks at them that last milliseconds, with errors.
 *
 * All rates are calls in a ns of the target's own CPU time: load that changes changes that time,
 * which is known for the whole run, and the rate much less. There are two kinds of looks:
 *
 *   A window counts a few functions by their entries alone. That costs the target little, so its
 *   own time meanwhile is known well, and calls by time are a rate.
 *   A burst records all of them at once. That costs so much that the target's own time cannot be
 *   told from the rest; but how often functions are called for each call of another holds. So the
 *   functions that windows know well tell how much own time a burst was worth.
 *
 * A rate is a ratio of sums (calls by time), its variance that of a ratio estimator: of what looks
 * deviate from it. With few looks that is uncertain itself, so it is drawn to the average of all
 * functions. Where threads do different work, a burst slows them in different ways, so bursts are
 * scaled for each function by those that the same threads call; and how far they are off for
 * functions that windows know is taken as an error of all that they tell. What both kinds of looks
 * say of a function is weighed by their variances. A program may call other things now than a
 * moment ago, so how far bursts and windows differ is told, where possible, by pairs of them that
 * came one right after the other. What counting costs is fitted (count_cost.h); what that is off by
 * stays, however many windows there are, as it is off for all in the same way.
 */
#ifndef PROFTRACE_RATES_RATES_H
#define PROFTRACE_RATES_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rates;

struct rate {
	double per_ns;	 /* calls in a ns of own CPU time */
	double variance; /* of that, relative: 0.01 is a standard error of 10 % */
};

int rates__new(struct rates **out); /* 0 or -ENOMEM */
void rates__free(struct rates *r);  /* accepts NULL */

/* Another function, whose number is the next one from 0 on; `per_ns` is what it is thought to be
 * called. Returns 0 or -ENOMEM. */
int rates__add(struct rates *r, double per_ns);

/* In a window functions[0 .. cnt - 1] were called so often, while the target had `cpu_ns` of CPU
 * time, of which counting has taken `cost_ns`. */
void rates__add_window(struct rates *r, const uint32_t *functions, const uint64_t *calls,
		       size_t cnt, double cpu_ns, double cost_ns);

/* In a burst; `after_window`: right after the last window, so both saw the same mix of what is
 * called. Returns 0 or -ENOMEM. */
int rates__add_burst(struct rates *r, const uint32_t *functions, const uint64_t *calls, size_t cnt,
		     bool after_window);

/* How often the function was called in bursts so far by each of these classes of threads. */
#define RATES_THREADS 64
void rates__set_threads(struct rates *r, uint32_t function, const double *calls);

/* Sets out[] for all functions. Returns 0 or -ENOMEM. */
int rates__estimate(const struct rates *r, struct rate *out);

#endif
