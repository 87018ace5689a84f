/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much counting a call costs a program, compared with what was calibrated.
 *
 * A window's own time is its CPU time less what counting has cost. Where a function is called twice
 * in a us, that is 1.6 of 2.6 us: if counting is a quarter cheaper than calibrated, as where caches
 * are warm, rates come out 40 % too high. Functions that are called seldom hardly have that error,
 * and bursts know how often both are called. So what fits all best is what counting costs:
 *
 *             a window's CPU time   of that for counting   calls    rate, if that is right
 *   handle    6 ms                  0.1 ms                 125      21 in a ms
 *   hash      6 ms                  3.7 ms                 4,600    2,000 in a ms
 *
 * If bursts have met 70 calls of hash for each one of handle, 1,500 is right, and counting hash
 * took 2.9 ms: 0.79 times what it was thought to.
 */
#ifndef PROFTRACE_RATES_COUNT_COST_H
#define PROFTRACE_RATES_COUNT_COST_H

#include <stddef.h>
#include <stdint.h>

/* A function that windows have counted and bursts have met. */
struct counted {
	uint32_t function;
	double calls, cpu_ns, cost_ns; /* in windows */
	double in_bursts;	       /* calls, by what bursts were worth */
	double variance; /* of the ratio of both, relative, without what counting costs */
};

/* Counting costs so many times what was calibrated, with this standard error. */
struct count_cost {
	double times, error;
};

/* The calibrated cost, as far as that is known. */
extern const struct count_cost count_cost__calibrated;

/* How much what is known of one function tells of another, 0 to 1. */
typedef double (*count_cost_alike)(const void *ctx, uint32_t function, uint32_t other);

/* Looks at the best known of them. */
struct count_cost count_cost__fit(struct counted *functions, size_t cnt, count_cost_alike alike,
				  const void *ctx);

/* Own CPU time, in ns, of windows that had `cpu_ns` of which counting was to cost `cost_ns`. */
double count_cost__own_ns(const struct count_cost *c, double cpu_ns, double cost_ns);

#endif
