/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ratios of sums (calls by length of looks), and how far looks deviate from them. Inside rates/
 * only. All variances are relative: 0.01 is a standard error of 10 %. */
#ifndef PROFTRACE_RATES_SUMS_H
#define PROFTRACE_RATES_SUMS_H

#include <stdbool.h>
#include <stddef.h>

/* The average variance of looks counts as much as so many looks at the function itself. */
#define DRAWN 3
/* How much one look deviates from others: a variance, 10 %. */
#define USUAL 0.01
/* Functions that bursts have met fewer times say little of how they are called. */
#define FEW 10
/* Fewer functions than that say little of what is usual. */
#define MANY 8

/* Pairs of (calls, length). */
struct sums {
	double n, c, x, cc, cx, xx;
};

void sums_add(struct sums *s, double c, double x);
double sums_ratio(const struct sums *s); /* 0 without any */

/* The variance of one look: by how much looks deviate from the ratio, as far as two or more tell.
 */
double sums_spread(const struct sums *s);

/* How looks deviate: variances. */
struct usual {
	double beyond; /* the variance of one look, beyond chance */
	double times;  /* by chance a look deviates so many times as much as where calls come one
			* by one: less than once where each request makes as many */
};

/* The ratio's variance. */
double sums_variance(const struct sums *s, const struct usual *usual);

/* The one in the middle of `cnt` values, of at least one, which are sorted then. */
double middle_of(double *values, size_t cnt);

/* How many times as much as by chance bursts deviate, for most functions: less than once where each
 * request calls them as often. Without the middle of many functions it is once. `scratch`: `cnt` of
 * them. */
double bursts_usual_times(const struct sums *bursts, size_t cnt, double *scratch);
/* The variance of what bursts tell of a function; `times` as above. */
double bursts_variance(const struct sums *s, double times);

/* Sums over looks at functions, each weighed by `tells`. */
struct usual_sums {
	double beyond, times, weight, looks;
};

void usual_add(struct usual_sums *u, const struct sums *s, double tells);
/* What is usual without them has its part. `one_by_one`: as are calls. */
struct usual usual_by(const struct usual_sums *u, bool one_by_one);

#endif
