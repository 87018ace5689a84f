/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timeline over another one, for a profile that shows less than that holds. */
#ifndef PROFTRACE_TIMELINE_TIMELINE_VIEW_H
#define PROFTRACE_TIMELINE_TIMELINE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "timeline/timeline.h"

/* [from_ns, to_ns) of a profile's time. */
struct time_range {
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX: no end */
};

/* A call's part in the range, in ns. */
static inline uint64_t time_range__inside(const struct time_range *r, uint64_t enter_ns,
					  uint64_t leave_ns)
{
	if (enter_ns < r->from_ns)
		enter_ns = r->from_ns;
	if (leave_ns > r->to_ns)
		leave_ns = r->to_ns;
	return leave_ns > enter_ns ? leave_ns - enter_ns : 0;
}

/* Like timeline::next, but passes over calls that have no part in the range. A call that takes no
 * time has one if it begins in the range. */
int timeline__next_in(struct timeline *t, uint32_t thread, const struct time_range *r,
		      struct timeline_call *call);

/* The part of a call's time off the CPU (`off_ns`) that falls into `inside_ns` of its `took_ns`.
 * When in the call it was off the CPU is not known: on average off_ns * inside_ns / took_ns. */
uint64_t timeline__share(uint64_t off_ns, uint64_t inside_ns, uint64_t took_ns);

struct timeline_view {
	/* Zero: all. Else what lies outside is cut off, and times count from its beginning. */
	struct time_range range;
	uint64_t min_ns; /* calls that take less in it are not shown */
	uint32_t *into;	 /* by node: its number in the view, 0: not shown; NULL: as it is */
	size_t into_cnt;
};

/* Replaces *t by a view over it, which owns it; NULL stays NULL. Takes over v->into, whatever
 * comes. Returns 0, or -ENOMEM: *t stays as it was. */
int timeline__view(struct timeline **t, const struct timeline_view *v);

#endif
