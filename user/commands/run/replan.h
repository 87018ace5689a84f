/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping the plan true while the processes map new files and begin new programs: target, plan and
 * probes are extended, and the threads that wait for it go on.
 */
#ifndef PROFTRACE_RUN_REPLAN_H
#define PROFTRACE_RUN_REPLAN_H

struct run;

/* Looks at all processes anew. */
int replan__all(struct run *r);

/* Does what the events that have come ask for. Both return 0 or -ENOMEM: whatever else fails is
 * logged and leaves the run as it is. */
int replan__events(struct run *r);

#endif
