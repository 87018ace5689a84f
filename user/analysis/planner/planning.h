/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The things that planning works with. Inside planner/ only. */
#ifndef PROFTRACE_PLANNER_PLANNING_H
#define PROFTRACE_PLANNER_PLANNING_H

struct exit_context;
struct filter;
struct plan;
struct plan_options;
struct proofs;
struct target;

/* All borrowed. */
struct planning {
	struct plan *plan; /* it grows */
	const struct target *target;
	struct filter *filter;
	const struct plan_options *opts;
	/* Dangers for return probes in the code that may run. */
	const struct exit_context *exits;
	struct proofs *proofs; /* that functions may have return probes all the same; NULL: none */
};

#endif
