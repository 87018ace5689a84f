/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions across threads: one hands a task over by a call of one function, another takes it up by
 * a call of another one, and a value of both calls tells which task it is.
 */
#ifndef PROFTRACE_SESSIONS_SESSION_LINKS_H
#define PROFTRACE_SESSIONS_SESSION_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct session_link_stats;
struct session_spec;

/* A call that continues a session, by its number in walks. */
struct session_part {
	uint64_t call;
	uint64_t submit; /* the call that handed the task over */
	uint64_t session;
	uint64_t queue_ns; /* between the submit's end and it */
	bool inside;	   /* in its place it is in that session already */
};

/* A session that has parts. */
struct session_extent {
	uint64_t session;
	uint64_t end_ns;   /* of the last part */
	uint64_t queue_ns; /* of all parts */
	bool open;	   /* a part has not ended */
	/* The whole session's figures, once sessions__find() has come to it. */
	bool ended; /* all of it: how long it took is known */
	uint32_t function;
	uint64_t duration_ns;
};

struct session_parts {
	struct session_part *parts; /* sorted by call */
	size_t parts_cnt;
	struct session_extent *extents; /* sorted by session */
	size_t extents_cnt;
};

/*
 * Finds the parts: a call of `run` continues the session in which the submit of the same value ran;
 * where several wait, the oldest. That session is the one of the innermost part around the submit,
 * if there is one that lies in no session of its own, else that of its thread. `stats` are by link.
 * There is room for `max` submits and runs in all; those beyond are forgotten, and counted.
 * Memory: 100 bytes for each of them. Returns 0, or -errno as session_walk(). The caller frees
 * both arrays, whatever comes.
 */
int session_links__match(const struct profile *p, const struct session_spec *spec, size_t max,
			 struct session_parts *out, struct session_link_stats *stats);

/* The extent that a session has; NULL: none. */
struct session_extent *session_parts__extent(const struct session_parts *p, uint64_t session);

#endif
