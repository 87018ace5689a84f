/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that a document lists, and their numbers: formats for programs agree on them. */
#ifndef PROFTRACE_SINK_LISTING_H
#define PROFTRACE_SINK_LISTING_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

struct listing {
	uint32_t id; /* its number in the document: these have no gaps */
	bool listed; /* was seen and is not hidden */
	bool dropped;
	/* Not dropped for the budget, or kept in part and scaled: its counts are of all of the
	 * run. If not, they are of what came before whole_until_ns since the start. */
	bool whole;
	uint64_t whole_until_ns;
};

/* One for each function of the profile, by its index; the caller frees it. NULL: no memory. */
struct listing *listing__new(const struct profile *p);

/* Like listing__new(), for a document that shows the paths of profile::sessions: functions on these
 * paths are listed, however cheap. */
struct listing *listing__with_sessions(const struct profile *p);

#endif
