/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The budget's inputs: what it acts on, and its settings. */
#ifndef PROFTRACE_BUDGET_INPUTS_H
#define PROFTRACE_BUDGET_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/costs.h"

struct collector;
struct plan;
struct target;
struct tracer;

/* All are borrowed; plan and target may grow. */
struct budget_inputs {
	const struct plan *plan;
	const struct target *target;
	struct tracer *tracer;
	struct collector *collector;
	struct probe_costs costs;
	double limit;	   /* 0.05: probes may cost 5 % of the target's own CPU time; 0: any */
	uint64_t start_ns; /* CPU time that the start has taken beside a target that runs already */
	uint64_t interrupt_ns; /* of a sample, beside our program; 0: not known */
	double load; /* CPUs that such a target kept busy, 0.25: a quarter of one; 0: unknown */
	uint64_t burst_ns;   /* dropped functions are recorded for so long at a time; 0: never */
	bool surveys;	     /* the target runs already: see survey.h */
	bool all;	     /* functions are traced that no option names */
	bool tells;	     /* without a limit: says what probes cost, if it is much */
	uint32_t sample_hot; /* keep one call in so many of a dropped function; 0: none */
	bool children;	     /* forked children are traced as well */
	bool follow;	     /* others may belong later: programs that they begin, say */
	bool calm;	     /* looks at the budget are further apart, as each takes time */
	bool joins;	     /* by a name, group or user: whoever has it then */
};

#endif
