/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_CALLS_RANKING_H
#define PROFTRACE_CALLS_RANKING_H

#include <stddef.h>

#include "calls/stats.h"

struct profile;
struct profile_function;

/* *out = the functions that were seen and are not hidden, first the one that weighs most without
 * its callees: with WEIGHT_WALL the dearest by its own time. Needs profile__summarize(). Returns 0
 * or -ENOMEM. The caller frees *out. */
int profile__rank(const struct profile *p, enum weight weight, const struct profile_function ***out,
		  size_t *cnt);

#endif
