/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making two profiles comparable: what only one of them has traced all of the time. For diff.c. */
#ifndef PROFTRACE_DIFF_DIFF_COMMON_H
#define PROFTRACE_DIFF_DIFF_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include "diff/diff_run.h"
#include "diff/same_functions.h"

/* Takes functions out of both profiles that one of them has dropped for good or not probed, though
 * it knew them, and lists those that were called in *out, by their pairs. `by_samples`: what was
 * dropped stays where both runs have samples, as these have seen it all of the time. Returns 0 or
 * -ENOMEM. The caller frees *out. */
int diff_common__leave_out(const struct diff_run runs[DIFF_RUNS], const struct function_pair *pairs,
			   size_t pairs_cnt, bool by_samples, struct diff_left_out **out,
			   size_t *cnt);

#endif
