/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks all single calls of a profile and tells which of them belong to which session. Each walk
 * numbers calls and sessions alike, so that a later one can find what an earlier one has chosen.
 */
#ifndef PROFTRACE_SESSIONS_SESSION_WALK_H
#define PROFTRACE_SESSIONS_SESSION_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct timeline_call;

/* A call begins. */
struct session_step {
	const struct timeline_call *call; /* cut to fit into the one around it */
	uint32_t thread;
	uint32_t function;
	uint32_t depth;	  /* calls that are open around it */
	uint64_t number;  /* of the call, from 1 on */
	uint64_t session; /* that it is in, by its own thread; from 1 on, 0: none */
	bool begins;	  /* it is that session's outermost call */
};

/* Nonzero ends the walk. */
typedef int (*session_visitor)(const struct session_step *step, void *ctx);

/* A session is an outermost call of the given functions (by number). Thread by thread, callers
 * before callees. Returns 0; what the visitor returned; -EINVAL if calls are of no path; -ENOMEM;
 * or the timeline's error. */
int session_walk(const struct profile *p, const bool *functions, session_visitor visit, void *ctx);

/* Likewise, and calls `leave` when a call ends. */
int session_walk_both(const struct profile *p, const bool *functions, session_visitor visit,
		      session_visitor leave, void *ctx);

#endif
