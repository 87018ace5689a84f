/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of call paths: made of the nodes of a profile, and summed up by function. */
#ifndef PROFTRACE_CALLS_TREE_H
#define PROFTRACE_CALLS_TREE_H

#include "calls/stats.h"

struct profile;

/* Links children to parents (first_root, first_child, next_sibling) from parent and thread, dearest
 * total first. Call it once the node array is complete. */
int profile__connect(struct profile *p);

/* Like profile__connect(), the one that weighs most with its callees first, by a time. */
int profile__connect_by(struct profile *p, enum weight weight);

/* Computes every function's stats from the nodes. A function's total_ns counts only the outermost
 * of recursive calls. Needs profile__connect(). Time: linear in the nodes. */
int profile__summarize(struct profile *p);

/* The estimate of a function's calls; NULL: it has none. Time: logarithmic. */
struct profile_estimate *profile__find_estimate(const struct profile *p, uint32_t function);

/* Sets the calls of estimates to what is estimated on all paths, none of which is left out yet. */
void profile__count_estimates(struct profile *p);

#endif
