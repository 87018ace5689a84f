/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What profiles that follow each other add up to, as counters that a Prometheus or VictoriaMetrics
 * scrapes: OpenMetrics text. The number of series is bounded: which functions have some is decided
 * when they first come, the dearest of a profile first, and stays so, as counters must not jump.
 */
#ifndef PROFTRACE_SINK_DATA_METRICS_H
#define PROFTRACE_SINK_DATA_METRICS_H

#include <stddef.h>
#include <stdio.h>

struct metrics;
struct profile;

#define METRICS_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* `globs` choose functions and regions, as -F does (none: all), and are borrowed; so many functions
 * at most have series of their own, 20 each. Returns 0 or -ENOMEM. */
int metrics__new(char *const *globs, size_t globs_cnt, size_t functions_max, struct metrics **out);
void metrics__free(struct metrics *m); /* accepts NULL */

/* Adds a profile, linked and summarized, of a stretch of time that none before it has covered.
 * Functions without series are added up as "[others]" of that service. Returns 0 or -ENOMEM. */
int metrics__add(struct metrics *m, const struct profile *p, const char *service);

/* All of it. Errors show in ferror(). */
void metrics__write(const struct metrics *m, FILE *out);

#endif
