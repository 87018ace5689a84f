/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling the user what the filter did not find. Inside plan/ only. */
#ifndef PROFTRACE_PLAN_UNMATCHED_H
#define PROFTRACE_PLAN_UNMATCHED_H

struct filter;
struct plan;
struct target;

/*
 * Names each pattern that matches nothing, with the nearest names there are: a misspelt one must
 * not go unnoticed among others. If nothing at all can be probed, says why.
 */
void unmatched__report(const struct plan *p, const struct target *t, const struct filter *filter);

#endif
