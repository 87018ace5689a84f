/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --callers: whose code is unwound, and what its functions are called. */
#ifndef PROFTRACE_RUN_CALLERS_H
#define PROFTRACE_RUN_CALLERS_H

#include <sys/types.h>

struct callers;
struct run;

/* Once the programs are loaded: what all processes have mapped. Returns 0 or -errno with one line
 * logged. */
int callers__start(struct run *r);
/* A process has mapped something, and the target knows it. Without --callers nothing happens. */
void callers__refresh(struct run *r, pid_t pid);
/* To be called before the plan is freed. */
void callers__free(struct callers *c);

#endif
