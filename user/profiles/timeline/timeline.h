/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single calls, for formats that show when things happened. A timeline may be large and lie in a
 * file, so it is walked, never held: thread by thread, in the order of time.
 */
#ifndef PROFTRACE_TIMELINE_TIMELINE_H
#define PROFTRACE_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_value;

/* One call. Times are ns since the profile's start, as measured: with what probes cost. */
struct timeline_call {
	uint32_t node; /* path, in profile::nodes; its thread is the node's */
	uint64_t enter_ns, leave_ns;
	uint64_t off_ns; /* of these, not on a CPU */
	/* Values of its function's arguments (profile::arguments), in that order; borrowed until
	 * the next next(). */
	uint32_t values_cnt;
	const struct call_value *values;
	/* The call was still going on then: at the end of the run, or when its thread was ended. */
	bool open;
};

/* A step of a walk: the beginning or the end of a call. Each begun call is ended, the innermost
 * first, in order of time. */
struct timeline_event {
	bool begins;
	const struct timeline_call *call; /* has its values where it begins only */
	uint64_t at_ns;
	uint32_t depth; /* calls that are open around it */
};

/* Nonzero ends the walk. */
typedef int (*timeline_visitor)(const struct timeline_event *event, void *ctx);

/* A source of calls. */
struct timeline {
	/* The calls of a thread in order of their beginning, callers before callees that begin at
	 * the same time; sets *call and returns 1, 0 at the end, or -errno. `rewind` starts anew.
	 */
	int (*next)(struct timeline *t, uint32_t thread, struct timeline_call *call);
	int (*rewind)(struct timeline *t, uint32_t thread);
	void (*free)(struct timeline *t); /* NULL: somebody else does */
	uint64_t lost;			  /* calls that are missing: there was no room for them */
};

/* Accepts NULL. */
void timeline__free(struct timeline *t);

/* Walks a thread's events. Calls that overlap where they should nest (losses, clocks) are cut to
 * fit. Memory: as deep as calls nest. Returns 0, what the visitor returned, or -errno. */
int timeline__walk(struct timeline *t, uint32_t thread, timeline_visitor visit, void *ctx);

#endif
