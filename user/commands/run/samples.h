/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the target's CPU time goes, traced or not: samples of its threads. A program of ours takes
 * them on paths (run/callers.h); where it cannot, they are counted by file, and the program, if
 * there is one, has them tell what probes cost.
 */
#ifndef PROFTRACE_RUN_SAMPLES_H
#define PROFTRACE_RUN_SAMPLES_H

#include <stdint.h>

struct options;
struct profile;
struct run;
struct samples;
struct tracer;

/* Gets hold of the clocks, while there are the privileges for it. The run goes on without (*out
 * NULL) where there are no processes to look at yet (-x), where it is not wanted, or where the
 * kernel refuses, which is said. */
void samples__new(const struct options *o, struct samples **out);

/* How often a second and CPU samples are to be taken on paths; 0: never. */
uint32_t samples__path_rate(const struct samples *s); /* accepts NULL */
/* The same of those that a program of ours takes, on paths or to tell what probes cost. */
uint32_t samples__rate(const struct samples *s); /* accepts NULL */
/* The most that this may come to be while the run goes on. */
uint32_t samples__most_rate(const struct samples *s); /* accepts NULL */
/* The interrupt of a sample's clock: its cost to a busy target, in ns, beside our program; 0: not
 * measured, as somebody has asked for a rate. */
uint64_t samples__interrupt_ns(const struct samples *s); /* accepts NULL */
/* Has the clocks call the tracer's program. Returns 0, or -errno silently, -ENOTSUP if there is
 * none: then samples are counted by file. */
int samples__bind(struct samples *s, const struct tracer *tr);

/* Samples are taken from the first to the second of these; plan and target are known. */
void samples__start(struct samples *s, const struct run *r); /* accepts NULL */
void samples__stop(struct samples *s, const struct run *r);  /* accepts NULL */
void samples__free(struct samples *s);			     /* accepts NULL */

/* A few times a second: counts by file what was seen since, unless tracing was switched off. */
void samples__take(struct samples *s, const struct run *r); /* accepts NULL */

/* A few times a second: takes as many samples as the budget affords, or, where somebody has said
 * how many, fewer if our program takes more than a fifth of the budget for those on paths. */
void samples__pace(struct samples *s, struct run *r); /* accepts NULL */

/* Puts the shares of files in CPU time into the profile. Returns 0 or -ENOMEM. */
int samples__apply(const struct samples *s, struct profile *p); /* accepts NULL */

#endif
