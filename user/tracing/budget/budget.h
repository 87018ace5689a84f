/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions to give up so that tracing costs no more than it may. */
#ifndef PROFTRACE_BUDGET_BUDGET_H
#define PROFTRACE_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a real program a call may cost a quarter more than calibration has measured. So functions are
 * dropped before the limit: from this share of it on. */
#define BUDGET_FULL 0.9

/* The share of the limit that samples of CPU time may have; probes have what samples leave. */
#define BUDGET_SAMPLES 0.2

/* A function in the time that is judged. */
struct budget_function {
	uint64_t calls;
	double call_cost_ns; /* what the probes of a call cost */
	double call_ns;	     /* what a call takes without them, callees included; 0: unknown */
	bool kept;	     /* not to be dropped, whatever it costs */
	bool gone;	     /* dropped already: what it still costs is not the others' fault */
	bool drop;	     /* the answer */
};

/* `passed` more calls were seen and passed over, at `cost_ns` each. */
void budget__add_passed(struct budget_function *f, uint64_t passed, double cost_ns);

/*
 * Sets `drop` of those to give up, if all that are left together cost more than BUDGET_FULL of
 * `limit` (0.05: 5 %) of `own_ns`, the CPU time that the target has had for itself: first those
 * that cost most and tell least. Returns how many there are.
 */
size_t budget__choose(struct budget_function *functions, size_t cnt, double own_ns, double limit);

#endif
