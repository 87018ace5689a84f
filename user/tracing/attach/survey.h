/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that stay for a moment, in groups of their own: those that only count calls, before the
 * true ones are put in or of functions that are dropped; and those of bursts, by which calls of
 * dropped functions are recorded. Inside attach/ only.
 */
#ifndef PROFTRACE_ATTACH_SURVEY_H
#define PROFTRACE_ATTACH_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct groups;
struct plan;
struct proftrace_bpf;
struct target;
struct backend;

/* Functions by their numbers in the plan, in order. */
struct survey_list {
	const uint32_t *functions;
	size_t cnt;
	bool burst; /* calls are recorded */
	/* By the target's processes: those that they are put in. NULL: all that true ones would be
	 * in. */
	const bool *processes;
};

/* Puts the probes of these functions in. Functions that the kernel refuses are marked so and left
 * out. Returns 0 or -errno, silently: when true ones are put in, the reason is said. */
int groups__survey(struct groups *g, const struct backend *backend,
		   const struct proftrace_bpf *skel, const struct plan *p, const struct target *t,
		   const struct survey_list *list);

/* Has all of one kind taken out, in the background. */
void groups__take_out_survey(struct groups *g);
void groups__take_out_burst(struct groups *g);

#endif
