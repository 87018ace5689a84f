/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of probes in the target itself, by leaves whose own time is known. Inside collect/
 * only.
 */
#ifndef PROFTRACE_COLLECT_YARDSTICKS_H
#define PROFTRACE_COLLECT_YARDSTICKS_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct function_probes;
struct part;

struct yardsticks {
	/* By cost class of entry and exit: how much dearer than charged; 1: not known. */
	double ratio[WIRE_COST_CLASSES][WIRE_COST_CLASSES];
};

/* `probes` is by function, `functions_cnt` of them; NULL: nothing is known of them. Returns 0 or
 * -ENOMEM. */
int yardsticks__measure(const struct part *const *parts, size_t parts_cnt,
			const struct function_probes *probes, uint32_t functions_cnt,
			struct yardsticks *out);

#endif
