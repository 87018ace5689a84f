/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing would cost, from counts of calls that were made before it begins (a survey), and
 * what to count once more to know it better.
 */
#ifndef PROFTRACE_BUDGET_FORECAST_H
#define PROFTRACE_BUDGET_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forecast_function {
	double rate;	 /* calls in a ns of the target's own CPU time, as was counted last */
	double count_ns; /* cost of counting a call */
	double trace_ns; /* cost that tracing a call would have */
};

/* The target's own part of the CPU time that it had while calls were counted, which has cost
 * `counting_ns`, also where a clock that goes in steps shows less than that. */
double forecast__own_ns(double cpu_ns, double counting_ns);

/* The cost of tracing all of them, as a share of the target's own CPU time. */
double forecast__share(const struct forecast_function *functions, size_t cnt);

/*
 * The cost, as a share, of functions of which no call was counted: about that of those of which a
 * single one was (the estimate of Good and Turing). `calls`: the counts that the rates are made of,
 * by function.
 */
double forecast__unseen(const struct forecast_function *functions, const uint64_t *calls,
			size_t cnt);

/*
 * Whether functions of which no call was counted are better left to the run than counted once more.
 * Counting costs the probes of all `cnt` of them, which come and go. Left to the run, `unseen` of
 * the target's own CPU time goes to their probes (forecast__unseen()) until the run's looks have
 * found those that cost it, on `load` CPUs: 24,000 functions of mariadbd take 190 ms to be counted,
 * and at 8 % of 1.3 CPUs 30 ms where they are left to the run.
 */
bool forecast__leaves(double unseen, double load, size_t cnt);

/*
 * Which functions to count once more, all together, for longer: all but the dearest, so that
 * counting costs at most `share` of the target's own CPU time. Writes their numbers to out[cnt], in
 * order; returns how many they are, or -ENOMEM.
 */
int64_t forecast__again(const struct forecast_function *functions, size_t cnt, double share,
			uint32_t *out);

#endif
