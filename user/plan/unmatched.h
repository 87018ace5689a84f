/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling the user what the filter did not find. Inside plan/ only. */
#ifndef PROFTRACE_PLAN_UNMATCHED_H
#define PROFTRACE_PLAN_UNMATCHED_H

#include <stdbool.h>

struct filter;
struct plan;
struct target;

/*
 * Names each pattern that matches nothing, with the nearest names there are: a misspelt one must
 * not go unnoticed among others. If nothing at all can be probed, says why. With `may_come` a
 * pattern for a file that is not mapped may match later; returns whether there is such a one.
 */
bool unmatched__report(const struct plan *p, const struct target *t, const struct filter *filter,
		       bool may_come);

#endif
