/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where return probes might crash the kernel, since two would be on one call (target/hazard.c):
 * where another run has some in the same file, and where links that are bound to one process each
 * want the returns of others, too. Inside planner/ only.
 */
#ifndef PROFTRACE_PLANNER_RETURN_CRASH_H
#define PROFTRACE_PLANNER_RETURN_CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct plan;
struct plan_options;
struct planning;
struct target;

/* Sets the object's `crash`, or claims its file. Before its functions are planned. */
void return_crash__look(const struct planning *pn, uint32_t index);

/* Whether the object's functions must do without return probes if its links are bound to one
 * process each: then sets its `crash`. */
bool return_crash__if_bound(struct plan *p, const struct target *t, const struct plan_options *opts,
			    uint32_t object);

/* Another tool has return probes on some of the functions: sets the `crash` of all objects. */
void return_crash__of_tools(struct plan *p);

/* Gives back the files that were claimed, but in which no function has a return probe. */
void return_crash__release(struct plan *p, const struct target *t);

#endif
