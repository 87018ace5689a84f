/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of probes in the target itself: by leaves whose own time is known, and by the samples that
 * met its functions. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_LEAF_COST_H
#define PROFTRACE_COLLECT_LEAF_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct function_probes;
struct probe_costs;
struct stack_copy;

struct leaf_costs {
	/* By cost class of entry and exit: how much dearer than charged; 1: not known. */
	double ratio[WIRE_COST_CLASSES][WIRE_COST_CLASSES];
};

/* `probes` is by function, `functions_cnt` of them; NULL: nothing is known of them. Returns 0 or
 * -ENOMEM. */
int leaf_cost__measure(const struct stack_copy *const *copies, size_t copies_cnt,
		       const struct function_probes *probes, uint32_t functions_cnt,
		       struct leaf_costs *out);

/* The cost of a function's probes, in and below it, as a multiple of what it was charged with. */
struct fitted_cost {
	double factor;
	double error; /* of the factor; 0: nothing is known, and the factor is 1 */
};

/* Facts on functions that need no samples. */
struct fit_known {
	const struct function_probes *probes; /* by function, probes_cnt of them */
	uint32_t probes_cnt;
	const struct probe_costs *costs;
	const struct leaf_costs *leaves;
	/* Samples that met a probe's way through the kernel are known by its functions' names, and
	 * left out. Else those on the way back from the end of a call are among its caller's. */
	bool kernel_named;
};

/* Sets *out to an array, by function, which the caller frees; NULL if there are no samples. A
 * sample stands for `period_ns` of CPU time. Returns 0 or -ENOMEM. */
int sample_fit__measure(const struct stack_copy *const *copies, size_t copies_cnt,
			const struct fit_known *known, uint64_t period_ns,
			struct fitted_cost **out);

#endif
