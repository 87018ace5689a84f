/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples and waits say of time: shared out to paths. */
#ifndef PROFTRACE_SAMPLE_CPU_SHARES_H
#define PROFTRACE_SAMPLE_CPU_SHARES_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct profile_node;
struct stack_copy;

/*
 * Functions without probes get the CPU time of the samples that met them, and their waits: from
 * that of the innermost call around them, whose own time it was taken for, or, outside of all
 * calls, beside it. `nodes` are the copy's, with their own figures as yet. Returns 0 or -ENOMEM.
 */
int share_samples(const struct stack_copy *copy, struct profile_node *nodes);

/*
 * Makes the CPU times of all paths add up to the target's without the probes' cost (`raw`: with
 * it), `cpu_ns` by its clock, of which calls that are not in the profile any more had
 * `forgotten_ns`. Calls were measured: what samples met outside of calls is the rest, however many
 * there were. Where next to nothing is left, calls were on the CPU for longer than the target: then
 * both give way. Returns 0 or -ENOMEM.
 */
int fit_to_clock(struct profile *p, uint64_t cpu_ns, uint64_t forgotten_ns, bool raw);

#endif
