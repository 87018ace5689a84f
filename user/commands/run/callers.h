/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --callers and samples: whose code is unwound, and what its functions are called. */
#ifndef PROFTRACE_RUN_CALLERS_H
#define PROFTRACE_RUN_CALLERS_H

#include <stdbool.h>
#include <sys/types.h>

struct callers;
struct recorded_wait;
struct run;

/* Opens the kernel's list of functions, if samples are taken on paths, while there are the
 * privileges for it. */
void callers__open(struct run *r);

/* Whether outermost calls are shown below what was open on their stacks. */
bool callers__seeds(const struct run *r);

/* Once the programs are loaded: what all processes have mapped. Returns 0 or -errno with one line
 * logged. */
int callers__start(struct run *r);
/* A process has mapped something, and the target knows it. If nothing is unwound, nothing happens.
 */
void callers__refresh(struct run *r, pid_t pid);
/* A few times a second: a stack that led astray may have led to code that has been made since. */
void callers__look(struct run *r);
/* Names the variable that a single wait for a futex is in, and for an rwlock whether to read or to
 * write. `ctx`: the struct run, which has wait_names. */
void callers__name_variable(void *ctx, struct recorded_wait *w);
/* To be called before the plan is freed. */
void callers__free(struct callers *c);

#endif
