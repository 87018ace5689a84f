/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses functions to give up so that tracing costs no more than it may. */
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

/* Samples may be more than every run takes as long as all of them, interrupts included, cost this
 * share of the limit: with a limit of 5 % 0.5 % of the target's CPU time. */
#define BUDGET_ALL_SAMPLES 0.1

/* Probes may cost this share of one CPU, however little the target does: 10 ms in a second. A
 * program that wakes up 20 times a second has 5 ms of CPU time in it, of which 5 % are nothing. */
#define BUDGET_SPARED 0.01

/* Functions that options name (budget_function::kept) are not dropped, however dear. Their cost
 * counts as this share of the limit at most, so that the other functions have half of the limit
 * (drops end at 0.8 of it): with a limit of 5 % and --session handle_request, whose probes cost
 * 7 %, the others may cost 2.5 % more. */
#define BUDGET_KEPT 0.3

/* Functions that options name and those that were called too seldom to be judged count as this
 * share of the limit at most, together. A program that begins calls hundreds of functions a few
 * times each, and most of them never again. */
#define BUDGET_STAYS 0.5

/* A function in the time that is judged. */
struct budget_function {
	uint64_t calls;
	double call_cost_ns; /* what the probes of a call cost */
	double call_ns;	     /* what a call takes without them, callees included; 0: unknown */
	uint64_t strays;     /* hits of its exits in no call of it, each of which costs */
	double stray_cost_ns;
	bool kept;   /* not to be dropped, whatever it costs */
	bool last;   /* to be dropped after all others */
	bool chosen; /* kept, as somebody has chosen it while tracing */
	bool again;  /* each new child calls it as the last one did: few calls tell enough */
	bool gone;   /* dropped already: what it still costs is not the others' fault */
	bool drop;   /* the answer */
};

/* The function's cost in that time, in ns of the target's. */
double budget__cost_ns(const struct budget_function *f);

/* The cost of the functions that are not gone, in ns, as far as it counts against `limit`
 * (see BUDGET_KEPT and BUDGET_STAYS). */
double budget__counted_ns(const struct budget_function *functions, size_t cnt, double own_ns,
			  double limit);

/* `passed` more calls were seen and passed over, at `cost_ns` each. */
void budget__add_passed(struct budget_function *f, uint64_t passed, double cost_ns);

/*
 * Sets `drop` of those to give up, if all that are left together cost more than BUDGET_FULL of
 * `limit` (0.05: 5 %) of `own_ns`, the CPU time that the target has had for itself: first those
 * that cost most and tell least, and those that cost less than 0.1 % after these. What is kept
 * counts as budget__counted_ns() says. Returns how many there are.
 */
size_t budget__choose(struct budget_function *functions, size_t cnt, double own_ns, double limit);

/* A function that was dropped, and may become exact again. */
struct budget_return {
	uint32_t function;
	double cost_ns; /* what it would cost in a ns of the target's own CPU time, at most */
};

/* Down to this share of the limit may be filled up by functions that come back: so far below what
 * has them dropped that small changes do not move them to and fro. */
#define BUDGET_RETURNS 0.6

/* Sorts those that may come back, the cheapest first: the answer is how many of the first ones cost
 * no more than `room`, a share of the target's own CPU time. */
size_t budget__returning(struct budget_return *returns, size_t cnt, double room);

#endif
