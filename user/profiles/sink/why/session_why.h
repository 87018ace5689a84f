/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the slowest sessions take longer than usual ones, where single waits were recorded: parts
 * that add up to what they take longer. For all formats that tell it to people.
 */
#ifndef PROFTRACE_SINK_WHY_SESSION_WHY_H
#define PROFTRACE_SINK_WHY_SESSION_WHY_H

#include <stddef.h>

struct profile;
struct session_group;
struct session_ranks;
struct why_part;

struct session_why {
	double longer_ns;	/* of p99 sessions, in the mean */
	struct why_part *parts; /* the one with most more_ns first */
	size_t cnt, cap;
};

/* No parts: no waits were recorded, or no session takes longer. Returns 0 or -ENOMEM. */
int session_why__find(const struct profile *p, const struct session_ranks *r,
		      const struct session_group *g, struct session_why *out);
void session_why__fini(struct session_why *w);

/* How many of the parts are worth telling: each a twentieth of the whole or more. */
size_t session_why__telling(const struct session_why *w);

#endif
