/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares out to paths the time that samples and waits tell. */
#ifndef PROFTRACE_SAMPLE_CPU_SHARES_H
#define PROFTRACE_SAMPLE_CPU_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_FIT 2 /* what samples stand for grows by no more, as few are met by chance */

struct profile;
struct profile_node;
struct stack_copy;

/*
 * Functions without probes get the CPU time of the samples that met them, and their waits: from
 * that of the innermost call around them, whose own time it was taken for, or, outside of all
 * calls, beside it. `nodes` are the copy's, with their own figures as yet. Returns 0 or -ENOMEM.
 */
int share_samples(const struct stack_copy *copy, struct profile_node *nodes);

/* CPU time by the target's clock. */
struct target_clock {
	uint64_t cpu_ns;       /* of all that is traced; 0: not known */
	uint64_t forgotten_ns; /* of that, of calls that are not in the profile any more */
	bool raw;	       /* what probes cost is not to be taken out */
};

/*
 * Makes the CPU times of all paths add up to the target's without the probes' cost. Calls were
 * measured: what samples met outside of calls is the rest, however many there were. Where next to
 * nothing is left, calls were on the CPU for longer than the target: then both give way. Returns 0
 * or -ENOMEM.
 */
int fit_to_clock(struct profile *p, const struct target_clock *clock);

/* CPU time outside of calls, in ns, of which no sample tells where it was, as none has met code
 * outside of calls (a run of milliseconds); 0: less than a thousandth of all, or samples do. */
uint64_t unmet_ns(const struct profile *p, const struct target_clock *clock);

#endif
