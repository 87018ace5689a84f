/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels whose probes kill processes that are otherwise harmless to probe. */
#ifndef PROFTRACE_TARGET_HAZARD_H
#define PROFTRACE_TARGET_HAZARD_H

#include <stdbool.h>

struct target;

/* Facts about the kernel and a process by which hazards are known; NULL if the process does not
 * exist yet. */
struct hazard_view {
	const char *release; /* of the kernel, as uname(2) tells it */
	const char *status;  /* /proc/PID/status; NULL: unknown */
	const char *cpuinfo; /* /proc/cpuinfo; NULL: unknown */
};

/*
 * Why return probes are deadly in such a process on such a kernel, as a static text; NULL: they are
 * not. A release that cannot be read counts as a good one. Distributions may have mended an older
 * release: being careful there costs speed only.
 */
const char *hazard__of(const struct hazard_view *view);

/* Whether the kernel may crash where two return probes are on one call, as it lists who wants the
 * return. */
bool hazard__lists_returns(const char *release);

/* Whether the kernel may skip a BPF program at a tracepoint, as another thread is preempted amid
 * it. */
bool hazard__skips_programs(const char *release);

/* Whether such a process has, or may get, a shadow stack, on whatever kernel. */
bool hazard__shadow_stacks(const struct hazard_view *view);

/* Sets the target's hazards and what it has of shadow stacks, on this kernel. */
void hazard__look(struct target *t);

#endif
