/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of --assert, 'p99(handle_*) < 5ms', and of --slo, 'handle_*: p99 < 5ms'. */
#ifndef PROFTRACE_CLI_ASSERTION_H
#define PROFTRACE_CLI_ASSERTION_H

#include <stdbool.h>
#include <stdint.h>

/* Sums over all functions that match come first; the others must hold for each. */
enum measure {
	MEASURE_CALLS,
	MEASURE_TOTAL,
	MEASURE_SELF,
	MEASURE_SUMS,
	MEASURE_AVG = MEASURE_SUMS,
	MEASURE_P50,
	MEASURE_P90,
	MEASURE_P99,
	MEASURE_MAX,
	MEASURES,
};

enum comparison { LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL, COMPARISONS };

struct assertion {
	const char *text; /* as given; borrowed */
	enum measure measure;
	char *glob; /* of functions */
	enum comparison comparison;
	uint64_t limit; /* calls, or ns */
};

/* Returns NULL, or what is missing, a static text, with its place in the text in *at (from 1 on).
 * Free assertion->glob, which may be NULL. */
const char *assertion__parse(struct assertion *a, const char *text, unsigned int *at);

/* Like assertion__parse(), for a rule: avg, p50, p90, p99 or max of each function that matches,
 * below a time. The last colon ends the name, which may have others: 'libapi.so:handle_*: p99 <
 * 5ms'. */
const char *assertion__parse_rule(struct assertion *a, const char *text, unsigned int *at);

/* The measure's name, as "p99". */
const char *measure__name(enum measure m);

bool assertion__holds(const struct assertion *a, uint64_t value);

#endif
