/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules (--slo 'handle_*: p99 < 5ms') beside what functions have done in the last window: a second,
 * say, or as much more as it takes to have enough calls. The kernel counts from the start on how
 * long calls take; a window is the difference of two looks at that.
 */
#ifndef PROFTRACE_SLO_WINDOWS_H
#define PROFTRACE_SLO_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/assertion.h"

struct profile;
struct slo_windows;

#define SLO_FUNCTIONS_MAX 256 /* that rules match: each is watched all the time */
#define SLO_STRETCH	  10  /* windows that a window may last for want of calls */

/* A rule and one function that it matches. */
struct slo_pair {
	uint32_t rule, function;
	uint64_t windows, broken; /* judged so far; and of these */
	uint64_t thin;		  /* others: too few calls, however long they lasted */
};

/* Figures of one look. */
struct slo_look {
	size_t judged, broken; /* pairs */
	/* The broken pair that is over its limit by the largest factor. */
	struct slo_pair worst;
	uint64_t value_ns, calls;
};

/* Calls without which a window tells nothing by that measure: 100 for p99, of which fewer would be
 * decided by a single one. */
uint64_t slo__calls_needed(enum measure m);

/* `rules` is borrowed. Returns 0 or -ENOMEM. */
int slo_windows__new(const struct assertion *rules, uint64_t window_ns, struct slo_windows **out);
void slo_windows__free(struct slo_windows *w); /* accepts NULL */

/* Watches a function from `now_ns` on. Returns 0, -ENOMEM or -E2BIG: there are too many. */
int slo_windows__add(struct slo_windows *w, uint32_t rule, uint32_t function, uint64_t now_ns);

/* Judges the windows that have ended by `now_ns`, of which `buckets` are all calls so far
 * (profile::buckets and buckets_cnt alone). */
void slo_windows__look(struct slo_windows *w, const struct profile *buckets, uint64_t now_ns,
		       struct slo_look *look);

const struct slo_pair *slo_windows__pairs(const struct slo_windows *w, size_t *cnt);

#endif
