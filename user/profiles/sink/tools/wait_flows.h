/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From whom to whom threads are woken, for formats that have a track for each thread, or for each
 * session. A waker that was in no session has a track of its own there, with the wait of its own
 * that it had before: so arrows lead on from one thread to the next.
 */
#ifndef PROFTRACE_SINK_TOOLS_WAIT_FLOWS_H
#define PROFTRACE_SINK_TOOLS_WAIT_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_thread;
struct single_wait;
struct waits;

/* On which track a thread wakes another one: a thread of the profile, or from
 * profile::threads_cnt on one of wait_flows::asides. */
struct wake {
	uint32_t wait; /* in waits::all */
	uint32_t track;
};

/* An outermost call of a session. */
struct session_stretch {
	uint32_t party;
	uint32_t thread;
	uint64_t begin_ns, end_ns;
	uint32_t around; /* the innermost stretch around it, plus 1; 0: none */
};

struct wait_flows {
	const struct profile *p;
	const struct waits *waits; /* NULL: none were recorded */
	bool sessions;		   /* tracks are sessions */
	uint32_t *whole;	   /* by party: the track of its own stack, plus 1; 0: none */
	struct session_stretch *stretches; /* by party, then in order of time */
	size_t stretches_cnt, stretches_cap;
	/* With sessions: waits that are shown on a waker's own track; and the parties that have
	 * one, by process and thread: number i has track profile::threads_cnt + i. */
	bool *aside;
	uint32_t *asides;
	size_t asides_cnt;
	struct wake *wakes; /* by track, then in order of time */
	size_t wakes_cnt, wakes_cap;
};

/* Returns 0, -ENOMEM, or -errno as timeline__walk(). */
int wait_flows__init(struct wait_flows *f, const struct profile *p);
void wait_flows__fini(struct wait_flows *f);

/* The thread's own stack, where its waits outside of calls are shown, and whom it wakes. */
bool wait_flows__is_whole(const struct profile_thread *t);

/* The track on which the wait is shown and its arrow ends, plus 1; 0: it has none. */
uint32_t wait_flows__shown_on(const struct wait_flows *f, const struct single_wait *w);

/* Whether an arrow leads to that wait, where it is shown on that track. */
bool wait_flows__end_at(const struct wait_flows *f, const struct single_wait *w, uint32_t track);

/* The wakes of a track are those from the returned number on, up to *end. */
size_t wait_flows__wakes(const struct wait_flows *f, uint32_t track, size_t *end);

#endif
