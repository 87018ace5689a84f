/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that were not given and depend on the others: the budget, how often samples are taken,
 * and how many paths there is room for. Inside cli/ only. */
#ifndef PROFTRACE_CLI_OPTION_SETTLE_H
#define PROFTRACE_CLI_OPTION_SETTLE_H

#include <stdint.h>

/* options.max_overhead and options.sample_rate, if they were not given. */
#define OVERHEAD_NOT_GIVEN    -1.0
#define SAMPLE_RATE_NOT_GIVEN UINT32_MAX

struct options;

/* Sets them, once all others have been checked: whether single calls are kept is known by then. The
 * samples' rate depends on the budget. */
void option_settle__all(struct options *o);

#endif
