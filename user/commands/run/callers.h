/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --callers and samples: whose code is unwound, and what its functions are called. */
#ifndef PROFTRACE_RUN_CALLERS_H
#define PROFTRACE_RUN_CALLERS_H

#include <stdint.h>
#include <sys/types.h>

struct callers;
struct run;

/* Opens the clocks for samples (--sample-rate), while there are the privileges for it. If the
 * kernel refuses, which is said, the run goes on without. */
void callers__open(struct run *r);
/* Samples that are to be taken a second and CPU; 0: none. */
uint32_t callers__sample_rate(const struct run *r);

/* Once the programs are loaded: what all processes have mapped. Returns 0 or -errno with one line
 * logged. */
int callers__start(struct run *r);
/* A process has mapped something, and the target knows it. If nothing is unwound, nothing happens.
 */
void callers__refresh(struct run *r, pid_t pid);
/* Samples are taken from the first to the second of these. */
void callers__start_clock(struct run *r);
void callers__stop_clock(struct run *r);
/* To be called before the plan is freed. */
void callers__free(struct callers *c);

#endif
