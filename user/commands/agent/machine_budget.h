/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the budget of the machine: what all recording may cost together. Inside agent/ only. */
#ifndef PROFTRACE_AGENT_MACHINE_BUDGET_H
#define PROFTRACE_AGENT_MACHINE_BUDGET_H

#include <stdint.h>

struct machine_budget {
	uint64_t since_ns; /* costs are compared since then; 0: a new comparison is to begin */
	uint64_t spent_ns; /* what had been spent by then */
	double scale;	   /* of all services' budgets; 1: they are as configured */
};

/* `spent_ns`: all costs so far, in CPU time; `allowed`: how many CPUs they may take. If they have
 * taken more since the last look, lowers the scale, else raises it. A sum that falls has lost a
 * service, and begins a new comparison. */
void machine_budget__judge(struct machine_budget *b, uint64_t spent_ns, double allowed,
			   uint64_t now_ns);

#endif
