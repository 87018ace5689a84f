/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels whose return probes kill processes that are otherwise harmless to probe. */
#ifndef PROFTRACE_TARGET_HAZARD_H
#define PROFTRACE_TARGET_HAZARD_H

struct target;

/* What is known of a process that decides; everything of one that is not there yet is unknown. */
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

/* The same for the whole target on this kernel. */
const char *hazard__of_target(const struct target *t);

#endif
