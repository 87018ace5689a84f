// SPDX-License-Identifier: GPL-2.0-or-later
#include "looks/late.h"

#include <math.h>

#define APART_NS   500000000 /* looks that begin further apart are of different times */
#define OWN_NS	   8000000   /* own CPU time in all looks, at least */
#define PART_NS	   (OWN_NS / LATE_TIMES + 1) /* own CPU time in one of the times, at least */
#define ERRORS	   2			     /* standard errors that a rate may be higher */
#define COST_ERROR 1.3	/* times that looks may have cost as much as was reckoned */
#define LEAST_OWN  0.05 /* the target's part of its CPU time in a look, at least */

void late__note(struct late *l, uint64_t at_ns, uint64_t calls, double own_ns)
{
	struct late_time *t = &l->times[(l->cnt + LATE_TIMES - 1) % LATE_TIMES];

	own_ns = own_ns > 1 ? own_ns : 1;
	l->last = (double)calls / own_ns;
	/* A look at a target that seldom runs has a millisecond of its time, or none. */
	if (!l->cnt || (at_ns >= t->from_ns + APART_NS && t->own_ns >= PART_NS)) {
		t = &l->times[l->cnt++ % LATE_TIMES];
		*t = (struct late_time){.from_ns = at_ns};
	}
	t->calls += (double)calls;
	t->own_ns += own_ns;
}

double late__own_in_burst(double ran_ns, double cost_ns)
{
	double own_ns = ran_ns - COST_ERROR * cost_ns;

	return own_ns > LEAST_OWN * ran_ns ? own_ns : LEAST_OWN * ran_ns;
}

double late__last(const struct late *l)
{
	return l->cnt ? l->last : -1;
}

double late__rate(const struct late *l)
{
	double calls = 0, own_ns = 0;

	for (int i = 0; i < LATE_TIMES; i++) {
		calls += l->times[i].calls;
		own_ns += l->times[i].own_ns;
	}
	if (l->cnt < LATE_TIMES || own_ns < OWN_NS)
		return -1;
	return (calls + ERRORS * sqrt(calls + 1)) / own_ns;
}
