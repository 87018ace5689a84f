/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's lock that keeps forks out (dup_mmap_sem in kernel/events/uprobes.c), which it takes
 * for each probe that comes or goes. Whoever takes it after a pause waits for an RCU grace period,
 * 4 to 15 ms on a busy machine (rcu_sync_enter()), so that forks need no atomic operation; for some
 * milliseconds after that it is free at once.
 *
 * Where that wait is part of a quiet moment (quiet.h), the CPUs go to and fro between the target
 * and the threads that keep it from running, every 60 us: with redis that took a tenth of all the
 * CPU time of a run. So the wait comes first: a probe goes into a file of our own, which nobody
 * runs.
 */
#ifndef PROFTRACE_ATTACH_LINKS_FORK_LOCK_H
#define PROFTRACE_ATTACH_LINKS_FORK_LOCK_H

struct link_spec;

/* Makes the lock one that is free at once, if it might not be. `spec`: of the link to be made next,
 * for its program. Returns the descriptor of a link to be closed soon by whoever may wait for that,
 * as it takes a grace period again; -1: none. */
int fork_lock__prepare(const struct link_spec *spec);

/* Probes have come or gone just now. */
void fork_lock__used(void);

#endif
