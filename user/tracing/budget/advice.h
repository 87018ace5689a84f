/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages during a run about what probes cost. Inside budget/ only. */
#ifndef PROFTRACE_BUDGET_ADVICE_H
#define PROFTRACE_BUDGET_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

struct budget_function;
struct plan;

/* Functions by -F have no budget: what their probes cost in all, beside `own_ns` of the target's
 * own CPU time, of which functions that is most, and what would help. `functions` are the plan's.
 */
void advice__unlimited(const struct plan *p, const struct budget_function *functions, size_t cnt,
		       double own_ns);

/* Functions that options name are not dropped: says so if they alone cost more than `limit` (0.05:
 * 5 %), and at what rate of sampling it would not. Returns whether it does. */
bool advice__kept(const struct plan *p, const struct budget_function *functions, size_t cnt,
		  double own_ns, double limit);

/* Functions that were chosen during the run are not dropped: as advice__kept(). */
bool advice__chosen(const struct plan *p, const struct budget_function *functions, size_t cnt,
		    double own_ns, double limit);

#endif
