/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of what paths have cost, and figures that follow from those of one path. */
#ifndef PROFTRACE_CALLS_STATS_H
#define PROFTRACE_CALLS_STATS_H

#include "calls/profile.h"

/* The weight of a path or function, where a user may choose (-w): wall time, time on a CPU, time
 * off it, or the number of calls. */
enum weight { WEIGHT_WALL, WEIGHT_CPU, WEIGHT_OFF, WEIGHT_CALLS };

/* The weight of a path itself, without its callees: ns, or calls. */
static inline uint64_t weigh(const struct call_stats *s, enum weight weight)
{
	switch (weight) {
	case WEIGHT_CPU:
		return stats__cpu_self_ns(s);
	case WEIGHT_OFF:
		return s->off_self_ns;
	case WEIGHT_CALLS:
		return s->calls;
	default:
		return s->self_ns;
	}
}

/* The time that stands for a weight where callees count, too: wall time for calls, as these do not
 * add up along a path. */
static inline enum weight weight__time(enum weight weight)
{
	return weight == WEIGHT_CALLS ? WEIGHT_WALL : weight;
}

/* The weight of a path with its callees, in ns: `weight` is a time. */
static inline uint64_t weigh_total(const struct call_stats *s, enum weight weight)
{
	switch (weight) {
	case WEIGHT_CPU:
		return stats__cpu_ns(s);
	case WEIGHT_OFF:
		return s->off_ns;
	default:
		return s->total_ns;
	}
}

/* Adds the time that one path had to itself to another's. */
static inline void stats__add_self(struct call_stats *sum, const struct call_stats *s)
{
	sum->self_ns += s->self_ns;
	sum->off_self_ns += s->off_self_ns;
	sum->raw_self_ns += s->raw_self_ns;
	sum->self_error_ns += s->self_error_ns;
	sum->samples += s->samples;
	sum->sampled_ns += s->sampled_ns;
	sum->varied_ns += s->varied_ns;
}

/* Adds all of a path but its inclusive figures. */
static inline void stats__add_own(struct call_stats *sum, const struct call_stats *s)
{
	stats__add_self(sum, s);
	sum->calls += s->calls;
	sum->burst_calls += s->burst_calls;
	sum->calls_varied += s->calls_varied;
	sum->recorded_calls += s->recorded_calls;
	if (s->min_ns < sum->min_ns)
		sum->min_ns = s->min_ns;
	if (s->max_ns > sum->max_ns)
		sum->max_ns = s->max_ns;
}

/* Inclusive figures are a path's own and those of its callees. */
static inline void stats__add_callee(struct call_stats *caller, const struct call_stats *s)
{
	caller->total_ns += s->total_ns;
	caller->off_ns += s->off_ns;
	caller->raw_total_ns += s->raw_total_ns;
	caller->error_ns += s->error_ns;
}

/* Adds what one path has cost to another, of the same function. */
static inline void stats__add(struct call_stats *sum, const struct call_stats *s)
{
	stats__add_own(sum, s);
	stats__add_callee(sum, s);
}

#endif
