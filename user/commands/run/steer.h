/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps tracing within its budget: looks several times a second at what the probes cost the target,
 * and drops functions if it is too much.
 */
#ifndef PROFTRACE_RUN_STEER_H
#define PROFTRACE_RUN_STEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct forecast_function;
struct profile;
struct run;
struct steer;

/* Without a budget it only takes the target's CPU time. Returns 0 or -ENOMEM. */
int steer__new(const struct run *r, struct steer **out);
void steer__free(struct steer *s); /* accepts NULL */

/* Before the start: drops what would be too much. `forecast` by function. Returns 0 or -ENOMEM. */
int steer__expect(struct steer *s, struct run *r, const struct forecast_function *forecast);

/* From here on time counts: when the gate is open and before the target runs. */
void steer__start(struct steer *s, const struct run *r, uint64_t now_ns);

/* Tracing is switched off, and on: what the target does in between is none of the budget's
 * business, and its CPU time then not counted. */
void steer__off(struct steer *s, const struct run *r, uint64_t now_ns);
void steer__on(struct steer *s, const struct run *r, uint64_t now_ns);

/* Has a look. Returns 0, or -errno with one line logged if functions could not be dropped. */
int steer__look(struct steer *s, struct run *r, uint64_t now_ns);

/* How long from a look to the next one, in ns; 0: none is needed. */
uint64_t steer__pace_ns(const struct steer *s);

/* A followed child has ended, or is followed no longer. */
void steer__child_ended(struct steer *s, pid_t pid);

/* Whether a process's CPU time counts: it is one of the target's, or a followed child. */
bool steer__watches(const struct steer *s, pid_t pid);

/* Puts CPU time, budget and the functions that were dropped into the profile. Returns 0 or
 * -ENOMEM. */
int steer__apply(struct steer *s, const struct run *r, struct profile *p);

#endif
