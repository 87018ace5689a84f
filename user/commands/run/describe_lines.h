/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From counted lines to the profile's. Inside run/ only. */
#ifndef PROFTRACE_RUN_DESCRIBE_LINES_H
#define PROFTRACE_RUN_DESCRIBE_LINES_H

#include <stdint.h>

struct collector;
struct plan;
struct profile;
struct tracer;

/* Puts the lines that are counted into a profile that has its functions: with what they have done
 * until `until_ns` (CLOCK_MONOTONIC), also those that have not run; and those that could not be
 * probed. Strings stay the plan's. Does nothing if none were asked for. Returns 0 or -ENOMEM. */
int describe_lines__apply(const struct plan *plan, const struct tracer *tr, struct collector *c,
			  uint64_t until_ns, struct profile *p);

#endif
