/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which files a target's threads were when samples were taken, and how many of these samples
 * were in functions that were being traced then. What is in other functions is time that the tree
 * shows as the self time of whoever called them, or does not show at all.
 *
 * Example: 1,000 samples of nginx: 60 in traced functions of nginx, 330 in others of nginx, 120 in
 * libz.so.1.2.13, 490 in the kernel.
 */
#ifndef PROFTRACE_SAMPLE_SHARES_H
#define PROFTRACE_SAMPLE_SHARES_H

#include <stdint.h>

struct plan;
struct profile;
struct sample;
struct target;
struct shares;
struct tracer;

/* All are borrowed; plan and target may grow. Returns 0 or -ENOMEM. */
int shares__new(const struct plan *plan, const struct target *target, const struct tracer *tracer,
		struct shares **out);
void shares__free(struct shares *w); /* accepts NULL */

/* Counts a sample of one of the target's processes. Reads the list of what the process has mapped,
 * if the sample is in no mapping that is known, at most once in a round. */
void shares__add(struct shares *w, const struct sample *sample);

/* Puts the samples so far into profile->cpu_shares; the names of files stay `w`'s. Returns 0 or
 * -ENOMEM. */
int shares__apply(const struct shares *w, struct profile *p);

/* A new round begins: what was mapped since may be looked for. */
void shares__round(struct shares *w);

#endif
