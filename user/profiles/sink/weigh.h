/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SINK_WEIGH_H
#define PROFTRACE_SINK_WEIGH_H

#include "calls/profile.h"
#include "sink/sink.h"

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

#endif
