/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_VIEWS_PRUNE_H
#define PROFTRACE_VIEWS_PRUNE_H

#include <stdint.h>

struct profile;

/* Takes paths out whose total is below `min_total_ns`, with all below them, and hides functions
 * whose total is; 0 leaves all as it is. What remains keeps its figures, as do accounts and the
 * stats of all functions: the time of what is left out is still in its callers' totals. Of
 * single calls those of these paths go, and those that took less themselves. Needs
 * profile__connect() and profile__summarize(), leaves the profile linked. Returns 0, or -ENOMEM:
 * then *p is good for nothing but profile__free(). */
int profile__prune(struct profile *p, uint64_t min_total_ns);

#endif
