/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The accounts of a run in words: calls counted and lost, cost of the probes. */
#ifndef PROFTRACE_SINK_ACCOUNTS_H
#define PROFTRACE_SINK_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct profile;

/* The members "accounting" and "budget" of an open object. */
void accounts__json(struct json *j, const struct profile *p);

/* In words: one line each, without its end. */
#define ACCOUNTS_LINE 320 /* room for a line */

/* Tells how calls ended: "entered 3 = returned 2 + unwound 0 + open 1; lost 0, dropped 0". */
char *accounts__calls(const struct profile *p, char *buf, size_t size);

/* A sentence on the cost of the probes, whether that was left in the times (`raw`), and the budget;
 * "" if that is not known. */
char *accounts__cost(const struct profile *p, bool raw, char *buf, size_t size);

/* CPU time of threads that were held until what they had loaded was planned, which the target's
 * does not contain; "" if that is less than a hundredth of it. */
char *accounts__held(const struct profile *p, char *buf, size_t size);

/* Tells for how many calls there are single ones: "single calls: 200 of ~1,000 (20.0%), exact"; ""
 * if none were recorded. */
char *accounts__single_calls(const struct profile *p, char *buf, size_t size);

/* Tells the source of estimates, and why some samples are not in the tree: "estimated from 250
 * samples of 10.0 ms CPU time each; 99.2% with all callers"; "" if all is exact. */
char *accounts__estimates(const struct profile *p, char *buf, size_t size);

#endif
