/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping the plan true while the processes map new files and begin new programs: target, plan and
 * probes are extended, and the threads that wait for it go on.
 */
#ifndef PROFTRACE_RUN_REPLAN_H
#define PROFTRACE_RUN_REPLAN_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Looks who else maps the files of functions that are not attached yet, and plans other exits than
 * return probes where links will be bound to one process each and these would be dangerous. Returns
 * 0 or -ENOMEM. */
int replan__before_attach(struct run *r);

/* Like tracer__bind(), but changes exits first where binding makes return probes dangerous. */
int replan__bind(struct run *r);

/* Looks whether another tool wants the returns of the target's functions, too; then these get other
 * exits. Returns 0 or -ENOMEM. */
int replan__shared_returns(struct run *r);

/* Looks at all processes anew. */
int replan__all(struct run *r);

/*
 * Processes that come to belong to the target. Those that begin a program the kernel side finds;
 * those that were put into a group, or have become another user, are looked for: at once, or once
 * it is time again.
 */
int replan__joiners(struct run *r);
int replan__tick(struct run *r, uint64_t now_ns);

/* Whether nobody belonged at the last look, which is made now if it is time again. */
bool replan__nobody_left(struct run *r);

/* Does what the events that have come ask for. All return 0 or -ENOMEM: whatever else fails is
 * logged and leaves the run as it is. */
int replan__events(struct run *r);

#endif
