/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what was measured until the next boot. Inside calibrate/ only. */
#ifndef PROFTRACE_CALIBRATE_CACHE_H
#define PROFTRACE_CALIBRATE_CACHE_H

#include <stdbool.h>

struct probe_costs;

/* False: nothing is known, or not of this kernel and program. */
bool cache__read(const char *tier, struct probe_costs *out);

/* Where that cannot be it is measured again the next time. */
void cache__write(const char *tier, const struct probe_costs *costs);

#endif
