/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survey: with a budget, calls are counted for a moment before anything is traced, so that what
 * would cost too much has no probe from the start on. Without it all functions would be probed at
 * first, and until the budget has seen which are called often and has taken these out again, the
 * target would pay for all of them: seconds, where it has many functions and many processes.
 *
 * Counting needs the entries of functions alone, and no state of threads: of the 12,000 functions
 * of postgres it costs a tenth of what tracing them costs. They are counted in turns, a few hundred
 * at a time, each turn for some milliseconds; then all but the dearest once more together, for
 * longer. What they would cost decides, as it does in the run (budget/budget.h).
 *
 * It needs a target that runs already.
 */
#ifndef PROFTRACE_BUDGET_SURVEY_H
#define PROFTRACE_BUDGET_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

struct budget_inputs;
struct forecast_function;

struct survey_result {
	bool *called;			    /* by function; NULL: no survey was made */
	struct forecast_function *forecast; /* by function; NULL: all of them may be traced */
	double load; /* CPUs that the target kept busy: 0.25 is a quarter of one */
	uint64_t took_ns;
};

/* To be called before functions are attached. Where it cannot be made *out, which is all 0, stays
 * so. Returns 0, or -errno if there can be no run; survey_result__clear() takes *out in any case.
 */
int survey__make(const struct budget_inputs *in, struct survey_result *out);
void survey_result__clear(struct survey_result *r);

#endif
