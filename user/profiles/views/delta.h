/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference of two profiles of one run: calls and times since the earlier one (-i). */
#ifndef PROFTRACE_VIEWS_DELTA_H
#define PROFTRACE_VIEWS_DELTA_H

struct profile;

/* *out = now - before: the calls and times that are new in `now`, paths without news left out, for
 * interval output. Call stacks are matched by all that identifies them, paths within them; function
 * indexes must mean the same in both. Single calls do not go along. `before` may be NULL: then a
 * copy of `now`. min_ns and max_ns are those of `now` (an interval's own are not known). Drops are
 * those that `before` has not. open is by how much the number of open calls has changed, so that
 * the accounts of a delta balance too. start_time moves to where `before` ended. *out is linked and
 * summarized; the caller frees it. */
int profile__delta(const struct profile *now, const struct profile *before, struct profile **out);

/* Like profile__delta(), for one of many intervals in a row, whose calls are to add up to those of
 * the run: sets the estimated calls of `now` to what the intervals up to this one have shown of
 * them. So `now` is good for nothing but to be `before` for the next interval. */
int profile__interval(struct profile *now, const struct profile *before, struct profile **out);

#endif
