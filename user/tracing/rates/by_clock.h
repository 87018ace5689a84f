/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates by one clock. Inside rates/ only.
 *
 * A rate is a ratio of sums (calls by length), its variance that of a ratio estimator: of what
 * looks deviate from it. With few looks that is uncertain itself, so it is drawn to the average of
 * all functions. Where threads do different work, a burst slows them in different ways, so bursts
 * are scaled for each function by those that the same threads call; and how far they are off for
 * functions that windows know is taken as an error of all that they tell. What both kinds of looks
 * say of a function is weighed by their variances. A program may call other things now than a
 * moment ago, so how far bursts and windows differ is told, where possible, by pairs of them that
 * came one right after the other. What counting costs is fitted (count_cost.h); what that is off by
 * stays, however many windows there are, as it is off for all in the same way.
 */
#ifndef PROFTRACE_RATES_BY_CLOCK_H
#define PROFTRACE_RATES_BY_CLOCK_H

#include "rates/rates_inside.h"

/* Sets per_ns, a ns of that clock, and variance of out[] for all functions; `usual`: how windows
 * deviate. Returns 0 or -ENOMEM. */
int by_clock__estimate(const struct rates *r, enum clock clock, struct usual usual,
		       struct rate *out);

#endif
