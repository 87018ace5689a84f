/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running a look: its counts and the target's clocks are read at its begin and at its end, and
 * again and again meanwhile, to find out whether the look is over. Inside bursts/ only.
 */
#ifndef PROFTRACE_BURSTS_READING_H
#define PROFTRACE_BURSTS_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/tracer.h"

struct bursts;

#define STEP_NS 500000 /* of waiting */

/* A moment: the target's clock, and the calls of the list that were counted up to then. */
struct reading {
	uint64_t at_ns, ran_ns;
	struct tracer_io io; /* of the first and the last one */
	double cost_ns;	     /* of the calls since the first reading; 0: it is that one */
};

enum which { FIRST, BETWEEN, LAST };

/* Reads the target's clock and the counts of the look's functions. b->calls are as of the first
 * reading, and from the last one on those since. */
void reading__take(struct bursts *b, struct reading *r, enum which which);

/* Conditions that end a look: one of the first two, and the third. */
struct ends {
	uint64_t ns;	/* the target has run for so long, or a few times as much time is over */
	double cost_ns; /* the calls in the look have cost so much */
	bool balanced;	/* reads and writes are mixed as in the run, unless that takes long */
};

/* Waits until the look is over that began with the reading `from`; *to = the reading that says so.
 */
void reading__watch(struct bursts *b, const struct reading *from, struct reading *to,
		    const struct ends *ends);

void reading__wait(uint64_t ns);

/* As tracer_io__unbalanced(), of what was read and written in a look. */
double reading__unbalanced(struct bursts *b, const struct reading *from, const struct reading *to);

/* The CPUs that the target kept busy from one reading to the other. */
double reading__cpus_busy(const struct reading *from, const struct reading *to);

/* Charges hits of probes that are on their way in or out since the last time; returns what they
 * have cost the target, in ns. */
double reading__charge_passed(struct bursts *b);

#endif
