/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a function has been called of late: by the last few looks at it. */
#ifndef PROFTRACE_LOOKS_LATE_H
#define PROFTRACE_LOOKS_LATE_H

#include <stdint.h>

#define LATE_TIMES 3

/* All zero at first. */
struct late {
	/* Looks that follow each other within half a second are added up, and so are those that
	 * have little of the target's own CPU time. */
	struct late_time {
		uint64_t from_ns;
		double calls, own_ns;
	} times[LATE_TIMES]; /* in turn */
	uint32_t cnt;	     /* of them, so far */
	double last;	     /* calls in a ns of own CPU time, in the last look */
};

/* A look that ended at `at_ns` has seen so many calls in so much of the target's own CPU time. */
void late__note(struct late *l, uint64_t at_ns, uint64_t calls, double own_ns);

/* In a burst that lasted so much of the target's CPU time the probes have cost so much of it: what
 * was its own, at least. */
double late__own_in_burst(double ran_ns, double cost_ns);

/* Calls in a ns of own CPU time in the last look; negative: there has been none. */
double late__last(const struct late *l);

/* Calls in a ns of own CPU time, at most; negative: too little is known. */
double late__rate(const struct late *l);

#endif
