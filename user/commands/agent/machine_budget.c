// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/machine_budget.h"

#include "util/log.h"

void machine_budget__judge(struct machine_budget *b, uint64_t spent_ns, double allowed,
			   uint64_t now_ns)
{
	if (b->since_ns && spent_ns >= b->spent_ns) {
		double taken_ns = (double)(spent_ns - b->spent_ns);
		double allowed_ns = (double)(now_ns - b->since_ns) * allowed;

		if (taken_ns > allowed_ns) {
			b->scale *= allowed_ns / taken_ns;
			log_warn("all recording took %.2g CPUs, and may take %.2g: budgets are "
				 "lowered to %.0f %% of what they were",
				 taken_ns / (double)(now_ns - b->since_ns), allowed,
				 b->scale * 100);
		} else if (taken_ns < allowed_ns / 2) {
			b->scale = b->scale * 1.5 < 1 ? b->scale * 1.5 : 1;
		}
	}
	b->since_ns = now_ns;
	b->spent_ns = spent_ns;
}
