/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what probes cost here: a child of ours calls functions that do nothing, with the same
 * programs and kinds of links as the target will have.
 */
#ifndef PROFTRACE_CALIBRATE_CALIBRATE_H
#define PROFTRACE_CALIBRATE_CALIBRATE_H

#include <stdbool.h>

struct collector;
struct probe_costs;
struct tracer;

/* The collector's `functions_cnt` must be at least this. */
#define CALIBRATE_FUNCTIONS 25

/*
 * Before the target's probes are attached and the gate is opened; takes some 50 ms, or next
 * to nothing if it was done before since the kernel was booted. Leaves the collector empty. Returns
 * 0, or -errno silently with *out all zero: then costs stay unknown.
 */
int calibrate__run(struct tracer *tr, struct collector *c, struct probe_costs *out);

/* Whether calibrate__run() has been through before, for programs of this backend: then *out has the
 * costs, else *out is all zero. `calls`: the programs keep single calls. */
bool calibrate__is_done(const char *backend, bool calls, bool system_calls,
			struct probe_costs *out);

#endif
