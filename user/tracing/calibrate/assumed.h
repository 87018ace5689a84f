/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What probes cost where that could not be measured: for the budget, which would bind nothing if
 * they cost nothing. Times are not corrected by it. */
#ifndef PROFTRACE_CALIBRATE_ASSUMED_H
#define PROFTRACE_CALIBRATE_ASSUMED_H

struct probe_costs;

void assumed_costs(struct probe_costs *out);

#endif
