/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time of all that is traced, since the start. Inside budget/ only. */
#ifndef PROFTRACE_BUDGET_CPU_CLOCK_H
#define PROFTRACE_BUDGET_CPU_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct budget_inputs;

#define CPU_CLOCK_ENDED 512

struct cpu_clock {
	struct process_clock {
		pid_t pid;
		bool ended;
		uint64_t start_ns, last_ns;
	} * processes;
	size_t cnt, cap;
	/* Where all that map a file are traced: all processes that there were at the start, by
	 * number, `ended` if they are not to be looked for any more; and when that was, in ticks
	 * since the boot. */
	struct process_clock *older;
	size_t older_cnt, older_cap;
	uint64_t start_ticks;
	/* Followed children that live, or who has called something, named or not; and the last
	 * children that have ended, for what is still told of them. */
	pid_t *pids, ended[CPU_CLOCK_ENDED];
	size_t pids_cnt, ended_at;
	uint64_t others_start_ns; /* of others: what they had had at the start, ended or not */
	uint64_t held_start_ns;	  /* CPU time of threads that we had held before the start */
	uint64_t last_ns;	  /* it does not run backwards */
};

/* Reads the clocks; processes that were not known yet begin at their own start, or, if `starting`,
 * now. Returns the sum in ns, of what is known: memory may have been short; without what threads
 * have had while we held them. */
uint64_t cpu_clock__read(struct cpu_clock *c, const struct budget_inputs *in, bool starting);
/* A process counts from here on, less the time that it has had. */
void cpu_clock__add(struct cpu_clock *c, pid_t pid);
/* A followed child has ended. */
void cpu_clock__note_end(struct cpu_clock *c, pid_t pid);
/* Whether the process's time counts, and it lives or has done so a moment ago. */
bool cpu_clock__has(const struct cpu_clock *c, pid_t pid);
void cpu_clock__clear(struct cpu_clock *c);

#endif
