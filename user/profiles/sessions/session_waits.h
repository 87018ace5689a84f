/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single waits on the way through single calls: which belong to which session, and their sums. */
#ifndef PROFTRACE_SESSIONS_SESSION_WAITS_H
#define PROFTRACE_SESSIONS_SESSION_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct sessions;
struct single_wait;
struct thread_calls;
struct time_window;
struct waits;

/* A wait of a session that took longest: its waker is named once all calls were met. */
struct late_wait {
	const struct single_wait *wait;
	uint32_t path;
	bool usual;
};

/* All zero, but for the waits: nothing so far. */
struct session_waits {
	const struct profile *p;
	const struct waits *waits; /* NULL: none were recorded */
	uint32_t *order;	   /* waits in calls, by thread, then in order of time */
	size_t order_cnt;
	uint32_t thread; /* of the walk, plus 1 */
	size_t at, end;	 /* of `order`: its waits that have not been met yet */
	uint32_t *index; /* sums by a hash of what they have in common, from 1 on */
	size_t index_size, sums_cap;
	struct late_wait *late;
	size_t late_cnt, late_cap;
	const struct thread_calls *held; /* while late waits are added; NULL before */
};

/* Returns 0 or -ENOMEM. */
int session_waits__init(struct session_waits *w, const struct profile *p);
void session_waits__fini(struct session_waits *w);

/* The walk's next event is on that thread. */
void session_waits__turn(struct session_waits *w, uint32_t thread);

/* The next wait of the thread that begins before `at_ns`, each once; NULL: there is none. */
const struct single_wait *session_waits__next(struct session_waits *w, uint64_t at_ns);

/* Adds a wait on a path to the sums of `s`, or puts it aside for session_waits__finish(). Returns 0
 * or -ENOMEM. */
int session_waits__add(struct session_waits *w, struct sessions *s, uint32_t path,
		       const struct single_wait *wait, bool worst, bool usual);

/* The stretches of time that session_waits__finish() wants the calls of, `late_cnt` of them. */
void session_waits__windows(const struct session_waits *w, struct time_window *windows);

/* Adds what was put aside; `held` knows what wakers did. Returns 0 or -ENOMEM. */
int session_waits__finish(struct session_waits *w, struct sessions *s,
			  const struct thread_calls *held);

#endif
