/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What profiles that follow each other add up to, as counters that a Prometheus or VictoriaMetrics
 * scrapes: OpenMetrics text. The number of series is bounded: which functions have some is decided
 * when they first come, the dearest of a profile first, and stays so, as counters must not jump.
 */
#ifndef PROFTRACE_SINK_DATA_METRICS_H
#define PROFTRACE_SINK_DATA_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct metrics;
struct profile;

#define METRICS_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The functions that have series. Globs as in -F; borrowed. */
struct metrics_choice {
	char *const *functions; /* and regions; none: all */
	size_t functions_cnt;
	char *const *sessions; /* whose outermost calls are sessions, with series of their own */
	size_t sessions_cnt;
	size_t max; /* of functions and sessions that have series, some 20 each */
};

/* Returns 0 or -ENOMEM. */
int metrics__new(const struct metrics_choice *choice, struct metrics **out);
void metrics__free(struct metrics *m); /* accepts NULL */

/* Adds a profile, linked and summarized, of a stretch of time that none before it has covered.
 * Functions without series are added up as "[others]" of that service. Returns 0 or -ENOMEM. */
int metrics__add(struct metrics *m, const struct profile *p, const char *service);

/* Calls that took 2^10, 2^12, ... 2^34 ns or less: bounds that those of our distributions meet. */
#define METRICS_FIRST_POWER 10
#define METRICS_BOUNDS	    13

static inline double metrics__bound_s(int k)
{
	return (double)(1ull << (METRICS_FIRST_POWER + 2 * k)) / 1e9;
}

enum metrics_kind {
	METRICS_FUNCTION,
	METRICS_REGION,
	METRICS_SESSION, /* outermost calls of a function */
	METRICS_OTHERS,	 /* the sum of functions without series */
};

/* The figures of a function. */
struct metrics_series {
	char *service, *function, *object; /* owned */
	enum metrics_kind kind;
	bool nested; /* of sessions: the function was called from within itself: `below` is not
			known */
	uint64_t calls, total_ns, self_ns, cpu_self_ns;
	double calls_variance, cpu_variance;	  /* calls^2, ns^2 */
	uint64_t below[METRICS_BOUNDS], finished; /* calls; each is in one of them or in none */
	double finished_ns;
};

/* "function", "region", "session", "others". */
const char *metrics_kind__name(enum metrics_kind kind);

/* All series so far, and how many functions of the last profile have none. */
const struct metrics_series *metrics__series(const struct metrics *m, size_t *cnt,
					     uint64_t *left_out);

/* All of it, without the line that ends a document ("# EOF"). Errors show in ferror(). */
void metrics__write(const struct metrics *m, FILE *out);

/* A stranger's text as the value of a label, in quotes. What is too long for one is cut, and has a
 * number behind it: names that begin alike are of series of their own. */
void metrics__put_label(FILE *out, const char *text);

#endif
