/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inputs of bursts and windows: what they look at, and their settings. */
#ifndef PROFTRACE_BURSTS_INPUTS_H
#define PROFTRACE_BURSTS_INPUTS_H

#include <stdint.h>

struct collector;
struct plan;
struct probe_costs;
struct target;
struct tracer;

/* All are borrowed; plan and target may grow. */
struct bursts_inputs {
	const struct plan *plan;
	const struct target *target;
	struct tracer *tracer;
	struct collector *collector;
	const struct probe_costs *costs;
	double limit;	   /* of all probes, of which BURSTS_SHARE is for bursts and windows */
	uint64_t burst_ns; /* dropped functions are recorded for so long at a time */
};

#endif
