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

/* A stack on which calls nest: a thread's own, or another that the thread was the first to run on.
 * Fields as in struct profile_thread, which they identify. Call stacks are numbered from 1 on, in
 * the order in which they are sent. */
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

/* A thread at a moment. */
struct recorded_party {
	pid_t pid, tid;	    /* pid 0: nobody */
	uint32_t callstack; /* where it was on calls; 0: outside of all */
	uint32_t path;	    /* of its innermost open call; 0: outside of all */
	char comm[16];
};

/* One time that a thread was off the CPU. */
struct recorded_wait {
	uint64_t begin_ns; /* since the start */
	uint64_t took_ns;
	uint64_t ready_ns;	 /* of that: it could run, but others did */
	uint64_t object;	 /* what it waited for, of `kind` */
	uint32_t kind;		 /* enum wait_object */
	uint32_t reason;	 /* enum wait_reason */
	uint32_t call;		 /* the system call that it was in, by number, plus 1; 0: none */
	const char *object_name; /* NULL: it has none; borrowed until the stream's end */
	struct recorded_party at;
	struct recorded_party waker; /* who has ended it, where it was then */
};

/* Who takes them. Each returns 0, or -errno with one line logged. */
struct call_stream {
	/* Call stacks and paths come before the first call that refers to them. */
	int (*callstacks)(void *ctx, const struct recorded_callstack *callstacks, size_t cnt);
	int (*paths)(void *ctx, const struct recorded_path *paths, size_t cnt);
	/* Finished calls of one call stack, in order of their ends, none before those that came
	 * before; `node` is the path's number. */
	int (*calls)(void *ctx, uint32_t callstack, const struct timeline_call *calls, size_t cnt);
	/* Waits, in any order; callstacks and paths came before. NULL: nobody takes any. */
	int (*waits)(void *ctx, const struct recorded_wait *waits, size_t cnt);
	void *ctx;
};

#endif
