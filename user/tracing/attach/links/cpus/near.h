/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Putting probes in and taking them out on the CPU that the target runs on. For each probe the
 * kernel changes a page of the target's code, and interrupts every other CPU on which the target
 * runs, to have the page's old translation flushed (flush_tlb_mm_range()). A target with one busy
 * thread does not run elsewhere while we are on its CPU: there is nobody to interrupt, and nobody
 * who waits for the lock of the mappings. Measured with redis under load, on two CPUs: 2 us to put
 * a probe in, 2 to 4 to take it out; on another CPU 10 to 30 and 12 to 19, and the target loses as
 * much again.
 */
#ifndef PROFTRACE_ATTACH_LINKS_CPUS_NEAR_H
#define PROFTRACE_ATTACH_LINKS_CPUS_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NEAR_PROCESSES 8 /* of more some are busy at a time, on several CPUs */

/* The target's processes, or those of them that probes are put into now. */
struct near {
	pid_t pids[NEAR_PROCESSES];
	uint32_t cnt; /* 0, as where there are more: probes go in wherever a CPU is free */
	uint32_t all; /* how many the target has: so many have a probe that is for all */
};

/* Whether near__go() is all that work on so many probes needs: the target has one busy thread,
 * beside which all others do next to nothing. As it was up to 20 ms ago. */
bool near__is_one(const struct near *near, size_t probes);

/* Has the calling thread run on the CPU of the target's one busy thread until near__leave(), for
 * work on so many probes. Does nothing where they are few, or where there is no such CPU
 * (process__busy_thread()). */
void near__go(const struct near *near, size_t probes);

/* Lets the calling thread run where it could run when its process began. */
void near__leave(void);

#endif
