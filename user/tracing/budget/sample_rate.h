/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples a second a budget affords. */
#ifndef PROFTRACE_BUDGET_SAMPLE_RATE_H
#define PROFTRACE_BUDGET_SAMPLE_RATE_H

#include <stdint.h>

/* The cost that samples may have, and that of one sample. */
struct sample_budget {
	double limit;	       /* what tracing may cost, as a share of the target's CPU time */
	uint32_t least_hz;     /* are affordable anywhere, by what an interrupt costs */
	uint32_t cpus;	       /* each has a clock */
	uint64_t program_ns;   /* that our program takes for a sample */
	uint64_t interrupt_ns; /* that the clock's interrupt takes, without the program */
};

/* The most samples a second and CPU that are ever taken because a budget affords them. */
uint32_t sample_rate__most(uint32_t least_hz, uint32_t cpus);

/*
 * Samples a second and CPU: as many as cost a tenth of the limit, interrupts included, and
 * `least_hz` at least; fewer than these where our program alone would take a fifth of it. The
 * answer is 1 or a prime, so that samples do not keep step with what the target or the kernel does
 * every 4 or 10 ms.
 *
 * Example: limit 0.05, 97 Hz, 17 us of interrupt and 10 us of program in a virtual machine: 0.5 %
 * of a second are 185 samples of 27 us, so 181 a second.
 */
uint32_t sample_rate__afford(const struct sample_budget *b);

/* The cost of samples for some time, at one rate. */
struct samples_cost {
	uint64_t ns, cnt; /* of our program; 0 samples: nothing is known */
	uint64_t cpu_ns;  /* CPU time of the target */
};

/* The rate that follows `hz`: what is affordable by what samples have cost (instead of
 * b->program_ns), or `hz` if that is as good as the same, or where too few were taken. */
uint32_t sample_rate__next(uint32_t hz, const struct sample_budget *b,
			   const struct samples_cost *c);

/* The rate that follows one that somebody has chosen: lower where our program takes more than a
 * fifth of `limit` (as in struct sample_budget). */
uint32_t sample_rate__lowered(uint32_t hz, double limit, const struct samples_cost *c);

#endif
