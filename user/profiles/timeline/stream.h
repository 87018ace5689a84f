/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single calls on their way, while the run goes on: from collect/ to whoever keeps them. What they
 * refer to has numbers of its own, which do not depend on the nodes of any profile.
 */
#ifndef PROFTRACE_TIMELINE_STREAM_H
#define PROFTRACE_TIMELINE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct timeline_call;

/* Where calls nest: a thread's stack, or another that it was the first to run on. Fields as in
 * struct profile_thread, which they identify. Call stacks are numbered from 1 on, in the order in
 * which they are sent. */
struct recorded_callstack {
	pid_t pid, tid;
	uint64_t start_ns;
	uint64_t goroutine;
	uint64_t callstack_ns;
	uint32_t spans;
};

/* A call path of a call stack. Paths are numbered from 1 on, in the order in which they are sent:
 * callers before callees. */
struct recorded_path {
	uint32_t parent; /* 0: outermost call of its call stack */
	uint32_t function;
	uint32_t callstack;
};

/* Who takes them. Each returns 0, or -errno with one line logged. */
struct call_stream {
	/* Call stacks and paths come before the first call that refers to them. */
	int (*callstacks)(void *ctx, const struct recorded_callstack *callstacks, size_t cnt);
	int (*paths)(void *ctx, const struct recorded_path *paths, size_t cnt);
	/* Finished calls of one call stack, in order of their ends, none before those that came
	 * before; `node` is the path's number. */
	int (*calls)(void *ctx, uint32_t callstack, const struct timeline_call *calls, size_t cnt);
	void *ctx;
};

#endif
