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
	bool stays; /* they are not taken out with the others of a survey */
};

/* Puts the probes of these functions in, in all processes that true ones would be in. Functions
 * that the kernel refuses are marked so and left out. Returns 0 or -errno, silently: when true ones
 * are put in, the reason is said. */
int groups__survey(struct groups *g, const struct backend *backend,
		   const struct proftrace_bpf *skel, const struct plan *p, const struct target *t,
		   const struct survey_list *list);

/*
 * Has the probes of some of the functions that a survey counts stay in when the others are taken
 * out. The kernel changes an instruction, for which it stops all CPUs that run the target, as the
 * first probe comes and the last one goes: so true probes that come meanwhile take a third of the
 * time. `list->stays` must be set. As groups__survey().
 */
int groups__leave_in(struct groups *g, const struct backend *backend,
		     const struct proftrace_bpf *skel, const struct plan *p, const struct target *t,
		     const struct survey_list *list);
/* Has these taken out, in the background, once true ones are in. */
void groups__take_out_left_in(struct groups *g);

/* Has all of one kind taken out, in the background; of a survey what is not left in. */
void groups__take_out_survey(struct groups *g);
void groups__take_out_burst(struct groups *g);

#endif
