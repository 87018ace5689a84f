/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The change of a figure between two runs, and whether it is noise. */
#ifndef PROFTRACE_DIFF_CHANGE_H
#define PROFTRACE_DIFF_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

/* A time in two runs. */
struct change {
	uint64_t old_ns, new_ns;
	int64_t ns;	   /* the new less the old one, saturated */
	uint64_t noise_ns; /* so much of it may be chance */
	uint64_t error_ns; /* its standard error, as far as the times are estimates; 0: measured */
	bool noise;	   /* it has not changed by more */
};

/* A time as one run has measured it: the sum over so many calls. */
struct measured {
	uint64_t ns, off_ns; /* off_ns of ns were spent off the CPU */
	uint64_t raw_ns;     /* the same with what the probes took; 0: that is not known */
	uint64_t error_ns;   /* what the probes' cost leaves uncertain */
	uint64_t calls;
	double variation;    /* of single calls: standard deviation by mean; 0: unknown */
	uint64_t longest_ns; /* call */
	uint32_t sampled;    /* one call in so many was measured; 0 or 1: each */
	uint64_t whole_ns;   /* what the run took in all, waiting apart; 0: unknown */
	/* The part of raw_cpu_ns, all time on the CPU, that the kernel says was not spent there. */
	uint64_t stolen_ns, raw_cpu_ns;
	/* By what share the time off the CPU of most functions differs between the runs: a standard
	 * deviation; 0: unknown. */
	double off_alike;
	/* Variances, where they are estimates: of ns, in ns^2, and of calls, in calls^2. */
	double ns_varied, calls_varied;
};

/*
 * Compares the time in two runs. Counts of calls are exact. So a change is taken apart (the halves
 * add up to it): what comes of having been called more or less often, at the mean of both runs'
 * times for a call, and what comes of each call taking another time. Example: 100 calls of 1 ms,
 * then 200 of 1.1 ms: +105 ms as there are more, +15 ms as they take longer.
 *
 * Of the second, what chance explains is noise: a mean of n calls that vary by s varies by
 * s / sqrt(n). But that calls differ is chance only as far as they might have been others. If both
 * runs have as many, they are taken for the same ones, doing the same. (An interpreter's calls
 * differ ten thousandfold, the same way each time: if that were chance, no change of it could be
 * told.)
 *
 * Of all of it that is noise which no two runs of the same thing have in common, the largest of
 *
 * - three standard deviations of the difference; beyond lies one in 370 by chance. Variances of
 *   independent parts add (Bienaymé):
 *   - what the probes' cost leaves uncertain in each run;
 *   - of what was estimated from samples or bursts, the variance that it brings along. So a change
 *     within two standard errors is none, and one between two and three is none either: of a
 *     hundred functions that are alike, five would differ by two;
 *   - time off the CPU, unless it is much in each call, comes in stalls that have nothing to do
 *     with the function, preemption above all. The variance of a sum of N stalls of length L, N
 *     Poisson distributed, is N L^2; L is taken for CHANGE_STALL_NS, or the longest call if that
 *     is shorter. Where each call waits, waits vary as the calls do, at worst like exponentially
 *     distributed ones. And if most functions waited longer in one run, the machine was busy: so
 *     much may be chance in each of them, as Efron has it in "Large-scale simultaneous hypothesis
 *     testing: the choice of a null hypothesis" (2004). Where the time on the CPU has changed
 *     beyond all this, stalls are no excuse;
 *   - interrupts, and caches that others have filled, make time on the CPU longer, a bit at a time:
 *     T ns of it vary by sqrt(T * CHANGE_JITTER_NS), so 1 ms by 14 % and 100 ms by 1.4 %;
 *   - a virtual machine's processor that runs another machine passes for on the CPU with us. The
 *     kernel's own account of CPU time leaves that out, so the run as a whole shows how much it is;
 *     it comes in stalls, too, of which one may be anywhere;
 * - CHANGE_SHARE of the larger time, with the probes' cost, as that varies likewise. No two runs
 * have the same clock rate, addresses, caches and neighbours, which change all calls alike and show
 * in no variance within a run: Mytkowicz et al., "Producing wrong data without doing anything
 *   obviously wrong!" (ASPLOS 2009) found more;
 * - CHANGE_WHOLE of all that the larger run did, or CHANGE_WHOLE_FEW where one of them has fewer
 *   than CHANGE_FEW calls, whose spread is not known well: so far runs of the same thing differ in
 *   any of their parts (seen with 500 functions of an interpreter);
 * - CHANGE_LEAST_NS: an interrupt, or some page faults.
 */
#define CHANGE_JITTER_NS 20000
#define CHANGE_STALL_NS	 10000000
#define CHANGE_SHARE	 0.05
#define CHANGE_WHOLE	 0.001
#define CHANGE_WHOLE_FEW 0.005
#define CHANGE_FEW	 100
#define CHANGE_LEAST_NS	 10000

struct change change__of(const struct measured *old, const struct measured *now);

/* The change of what a call takes: the old time is what it would have been with the new run's
 * number of calls. If one of them has no calls nothing can be said: then it counts as unchanged. */
struct change change__per_call(const struct measured *old, const struct measured *now);

/* Whether a change in the number of calls is noise: these are exact, and any change is a real one,
 * unless they were scaled from samples or bursts, by three standard deviations as above, of their
 * difference or of their ratio: 9,900 calls, known within 96 %, may well have been 100,000. */
bool change__calls_are_noise(const struct measured *old, const struct measured *now);

/* In percent of the old time. Returns false if that is 0. */
bool change__percent(const struct change *c, double *percent);

/* now - old, saturated. */
int64_t change__difference(uint64_t old, uint64_t now);

#endif
