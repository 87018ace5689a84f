/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which paths make slow sessions slow, and which one session has spent most on: for all formats
 * that tell it to people.
 */
#ifndef PROFTRACE_SINK_WHY_SESSION_RANKS_H
#define PROFTRACE_SINK_WHY_SESSION_RANKS_H

#include <stddef.h>
#include <stdint.h>

struct session;
struct session_group;
struct sessions;

struct session_ranks {
	const struct sessions *s;
	uint32_t *roots;	    /* by path: that of its session's own call */
	uint64_t *self_ns, *off_ns; /* by path, of one session; 0 in between */
};

/* A path that slow sessions spend more on than usual ones, in the mean. */
struct session_reason {
	uint32_t path; /* 0: none, but waiting in queues */
	uint64_t slow_ns, usual_ns;
	int64_t more_ns, more_off_ns; /* the difference, and what of it was off the CPU */
};

/* A path of one session: its own time, and what of it was off the CPU. */
struct session_cost {
	uint32_t path;
	uint64_t self_ns, off_ns;
};

/* Returns 0 or -ENOMEM. */
int session_ranks__init(struct session_ranks *r, const struct sessions *s);
void session_ranks__fini(struct session_ranks *r);

/* How much longer slow sessions of the group take than usual ones, in the mean. */
int64_t session_group__more_ns(const struct session_group *g);

/* Sets *out to what makes the group's sessions slow: queues first, then the paths, most first. None
 * if slow sessions take no longer. Returns 0 or -ENOMEM; the caller frees *out. */
int session_ranks__reasons(const struct session_ranks *r, const struct session_group *g,
			   struct session_reason **out, size_t *cnt);

/* Sets *out to the paths of a session, the one with most own time first. Returns likewise. */
int session_ranks__dearest(struct session_ranks *r, const struct session *session,
			   struct session_cost **out, size_t *cnt);

#endif
