/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the tables that BPF fills into profiles. Reads them through memory maps, so looking costs
 * the target nothing; moves what ended threads have left into memory of its own when the tables run
 * short, and gives their entries back.
 */
#ifndef PROFTRACE_COLLECT_COLLECTOR_H
#define PROFTRACE_COLLECT_COLLECTOR_H

#include <stdint.h>

struct collector;
struct profile;
struct tracer_tables;

/* `functions_cnt` is that of the plan: no path may name a function beyond. Returns 0 or -errno with
 * one line logged. The tracer must outlive the collector. */
int collector__new(const struct tracer_tables *tables, uint32_t functions_cnt,
		   struct collector **out);
void collector__free(struct collector *c); /* accepts NULL */

/* The plan has grown to that many functions. Returns 0 or -ENOMEM. */
int collector__grow(struct collector *c, uint32_t functions_cnt);

/* Makes room in the tables if they run short; call it a few times a second. */
int collector__poll(struct collector *c);

/* For a progress line: calls recorded so far, and functions seen up to the last poll. */
uint64_t collector__calls(const struct collector *c);
uint32_t collector__functions(const struct collector *c);

/* Drops what retired threads have done, once it has been shown and only news are wanted. Their
 * share of the accounts stays. */
void collector__forget_retired(struct collector *c);

/*
 * Everything recorded so far as a profile with threads (one for each
 * lane: see profile__join_lanes()), nodes and accounting; open calls have the
 * time they have had until `now_ns` (CLOCK_MONOTONIC), or until their thread ended. Target,
 * functions and probes are left to the caller. While the target runs, the figures of calls under
 * way may be a moment apart, but entered = returned + unwound + open and a path's total is its self
 * time plus its children's, always. Returns 0 or -errno.
 */
int collector__snapshot(struct collector *c, uint64_t now_ns, struct profile **out);

#endif
