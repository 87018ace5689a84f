/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times that are estimated from samples of CPU time. A path that n samples met has n periods, with
 * a standard error of sqrt(n) periods: 100 samples of 10 ms are 1 s, within 0.1 s in two of three
 * runs.
 */
#ifndef PROFTRACE_CALLS_ESTIMATE_H
#define PROFTRACE_CALLS_ESTIMATE_H

#include <math.h>

#include "calls/profile.h"

/* Whether a path, or a function, is known from samples: it had no probe, or most of its own time
 * passed while it had none. */
static inline bool estimate__is(const struct profile *p, const struct call_stats *s)
{
	return p->sample_period_ns && (!s->calls || s->sampled_ns > s->self_ns / 2);
}

/* The standard error of its own CPU time, by samples; 0 where it was measured alone. */
static inline uint64_t estimate__error_ns(const struct profile *p, const struct call_stats *s)
{
	return (uint64_t)sqrt((double)s->varied_ns * (double)p->sample_period_ns);
}

#endif
