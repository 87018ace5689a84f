/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs of probes that are assumed, as 1 us for a trap, where they could not be measured. They are
 * for the budget, which would bind nothing if probes cost nothing; times are not corrected by them.
 */
#ifndef PROFTRACE_CALIBRATE_ASSUMED_H
#define PROFTRACE_CALIBRATE_ASSUMED_H

struct probe_costs;

void assumed_costs(struct probe_costs *out);

#endif
