/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing would cost, from counts of calls that were made before it begins (a survey), and
 * what to count once more to know it better.
 */
#ifndef PROFTRACE_BUDGET_FORECAST_H
#define PROFTRACE_BUDGET_FORECAST_H

#include <stddef.h>
#include <stdint.h>

struct forecast_function {
	double rate;	 /* calls in a ns of the target's own CPU time, as was counted last */
	double count_ns; /* what counting a call costs, */
	double trace_ns; /* and what tracing it would */
};

/* The target's own part of the CPU time that it had while calls were counted, which has cost
 * `counting_ns`, also where a clock that goes in steps shows less than that. */
double forecast__own_ns(double cpu_ns, double counting_ns);

/* What tracing all of them would cost, as a share of the target's own CPU time. */
double forecast__share(const struct forecast_function *functions, size_t cnt);

/*
 * The cost, as a share, of functions of which no call was counted: about that of those of which a
 * single one was (the estimate of Good and Turing). `calls`: the counts that the rates are made of,
 * by function.
 */
double forecast__unseen(const struct forecast_function *functions, const uint64_t *calls,
			size_t cnt);

/*
 * Which functions to count once more, all together, for longer: all but the dearest, so that
 * counting costs at most `share` of the target's own CPU time. Writes their numbers to out[cnt], in
 * order; returns how many they are, or -ENOMEM.
 */
int64_t forecast__again(const struct forecast_function *functions, size_t cnt, double share,
			uint32_t *out);

#endif
