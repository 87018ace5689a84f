/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the target's CPU time goes, traced or not: samples of its threads, by file. What probes
 * cannot tell, as they see functions that are traced alone.
 */
#ifndef PROFTRACE_RUN_SAMPLES_H
#define PROFTRACE_RUN_SAMPLES_H

struct options;
struct profile;
struct run;
struct samples;

/* Gets hold of the clocks, while there are the privileges for it. The run goes on without (*out
 * NULL) where there are no processes to look at yet (-x), where it is not wanted, or where the
 * kernel refuses, which is said. */
void samples__new(const struct options *o, struct samples **out);

/* From here on samples are taken; plan and target are known. */
void samples__start(struct samples *s, const struct run *r); /* accepts NULL */
void samples__free(struct samples *s);			     /* accepts NULL */

/* A few times a second: counts what was seen since, unless tracing was switched off. */
void samples__take(struct samples *s, const struct run *r); /* accepts NULL */

/* Puts the shares of files in CPU time into the profile. Returns 0 or -ENOMEM. */
int samples__apply(const struct samples *s, struct profile *p); /* accepts NULL */

#endif
