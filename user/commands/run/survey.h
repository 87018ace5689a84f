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
 * It needs a target that runs already. Inside run/ only.
 */
#ifndef PROFTRACE_RUN_SURVEY_H
#define PROFTRACE_RUN_SURVEY_H

#include <stdbool.h>

struct options;
struct run;

/* Whether one is to be made, as far as options say. */
bool survey__is_wanted(const struct options *o);

/* Makes it and drops what must not be traced; to be called before functions are attached. Where it
 * cannot be made the run begins without it. *called, if it was made: by function, which may be
 * called; the caller frees it. Returns 0, or -errno if there can be no run. */
int survey__make(struct run *r, bool **called);

#endif
