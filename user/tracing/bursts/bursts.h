/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions that the budget has dropped are estimated: for some milliseconds at a time
 * they are probed again, all together (a burst), which shows their paths and how long calls take;
 * and between bursts a few of them are counted by their entries alone (a window), which shows how
 * often they are called (rates/rates.h). Both in the loop of the run, which waits meanwhile: for
 * some tens of milliseconds.
 */
#ifndef PROFTRACE_BURSTS_BURSTS_H
#define PROFTRACE_BURSTS_BURSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bursts;
struct bursts_inputs;
struct profile;

/* The share of the budget that bursts and windows have. */
#define BURSTS_SHARE	 0.5
#define BURSTS_HELD_BACK 0.5 /* of that they leave so much while they are held back */

/* Returns 0 or -ENOMEM; bursts__free() takes it. */
int bursts__new(const struct bursts_inputs *in, struct bursts **out);
void bursts__free(struct bursts *b); /* accepts NULL */

/* These accept NULL. */

/* Tracing begins. */
void bursts__start(struct bursts *b);

/* A function is dropped, that was called so often in a ns of the target's own CPU time. Returns 0
 * or -ENOMEM. */
int bursts__add(struct bursts *b, uint32_t function, double per_ns);

/* These functions are exact again: what is estimated of the time while they were dropped stays as
 * it is now. They may be added again. Returns 0 or -ENOMEM. */
int bursts__remove(struct bursts *b, const uint32_t *functions, size_t cnt);

/* How often a dropped function is called of late, at most: in a ns of the target's own CPU time. It
 * takes several looks at it, and some time since it was dropped; negative: not known. */
double bursts__rate(const struct bursts *b, uint32_t function);

/* CPU time that they have cost the target so far, as calibrated, in ns. */
double bursts__cost_ns(const struct bursts *b);

/* Takes a burst or a window, if there is cause to. `held_back`: they may cost less for now, until
 * the start is paid for. Returns 0 or -ENOMEM. */
int bursts__look(struct bursts *b, bool held_back, uint64_t now_ns);

/* How long until the next look, in ns; 0: none is needed. */
uint64_t bursts__pace_ns(struct bursts *b);

/* Tracing is switched off, and on: meanwhile calls are not counted. */
void bursts__off(struct bursts *b);
void bursts__on(struct bursts *b);

/* Tells the collector what calls are estimated to have been made up to now. Returns 0 or -ENOMEM.
 */
int bursts__estimate(struct bursts *b);

/* Puts what was done into the accounts. */
void bursts__account(const struct bursts *b, struct profile *p);

#endif
