/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments in which a busy target stands still while its code is changed: threads of ours keep all
 * CPUs busy, but for that of the thread that puts probes in or takes them out.
 *
 * A thread that runs into a probe while the kernel changes another one waits for the lock of its
 * process's mappings, is given it as it sleeps, and the next change waits until that thread has had
 * a CPU. For each change the kernel also interrupts every other CPU that the target runs on.
 * Measured with a Go server, two threads of which are busy on two CPUs: 66 to 126 us for each probe
 * that is put in, and 3 us in such a moment.
 *
 * The threads have the lowest real-time priority there is, and the one that works has the next, so
 * whatever has a higher one runs as ever. While the one that works has to wait, as for a lock that
 * the target holds, the CPUs are free for 60 us at a time. A moment lasts 5 ms at most, beside
 * that.
 */
#ifndef PROFTRACE_ATTACH_LINKS_CPUS_QUIET_H
#define PROFTRACE_ATTACH_LINKS_CPUS_QUIET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct near;

/* Who knows the CPU time, in ns, that the target has had with all of its children; NULL: nobody, so
 * its processes are asked. A function that returns 0 does not know. */
void quiet__ask(uint64_t (*ran_ns)(const void *), const void *ctx);

/* Whether work on so many probes is to have a moment. Not where they are few, where the target does
 * little or has one busy thread (near__is_one(): the moment's threads would take as much CPU time
 * again as the work), or where there are more than eight CPUs, one of which is soon free for
 * whoever has such a lock; nor where a real-time program has a CPU for itself. */
bool quiet__is_due(const struct near *near, size_t probes);

/* Begins a moment for the calling thread, where quiet__is_due() has said so. False, and nothing
 * happens: the system does not let us have real-time priorities (privilege__drop_for_links() leaves
 * us the right to them). */
bool quiet__begin(void);
/* By the thread that has begun it. Threads that this one begins meanwhile work as well. */
void quiet__end(void);

/* Lets a process end that may have such threads: they become ordinary ones, and may run on all CPUs
 * that the caller may use. Else one that a real-time program keeps from its CPU lives on after the
 * process was killed, and with it all that the process has open: our probes would stay. Does
 * nothing if there is no such process. */
void quiet__let_end(pid_t pid);

#endif
