/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of probes in the target itself, by leaves whose own time is known. Inside collect/
 * only.
 */
#ifndef PROFTRACE_COLLECT_LEAF_COST_H
#define PROFTRACE_COLLECT_LEAF_COST_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct function_probes;
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

#endif
