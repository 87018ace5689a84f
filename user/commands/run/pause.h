/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracing switched off and on while the target runs. Off, the gate is closed first: a hit costs
 * little more than its trap. After a while the probes are taken out: then the target runs as if
 * nobody was there, and switching on takes as long as attaching.
 */
#ifndef PROFTRACE_RUN_PAUSE_H
#define PROFTRACE_RUN_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct run;
struct pause;

/* At the start: with --paused and --skip it is off, else on. */
void pause__start(struct run *r);

/* All return 0, or -errno with one line logged. */
int pause__toggle(struct run *r);
/* Off for moments, with the probes out at once, and on again: nobody is told. Nothing if somebody
 * has switched it off. */
int pause__rest(struct run *r);
int pause__wake(struct run *r);

/* The seconds of --skip are over: switches on, unless somebody has switched it before. */
int pause__skipped(struct run *r);

/* If a call of a function that ends the recording (--until) has closed the gate since it was
 * opened: off it is, since then. To be asked before anything is read. */
int pause__notice(struct run *r);

/* A few times a second: takes the probes out if it has been off for long. */
int pause__tick(struct run *r, uint64_t now_ns);

/* Time off between the start and `until_ns`. */
uint64_t pause__paused_ns(const struct pause *s, uint64_t until_ns);

#endif
