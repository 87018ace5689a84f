/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single calls in a recording, as they are written while the run goes on. */
#ifndef PROFTRACE_RECORD_CALLS_H
#define PROFTRACE_RECORD_CALLS_H

#include <stdint.h>
#include <sys/types.h>

/* Where calls nest: a thread's stack, or another that it was the first to run on. Fields as in
 * struct profile_thread, which they identify. Lanes are numbered from 1 on, in the order in which
 * they are written. */
struct recorded_lane {
	pid_t pid, tid;
	uint64_t start_ns;
	uint64_t goroutine;
	uint64_t lane_ns;
};

/* A call path of a lane. Paths are numbered from 1 on, in the order in which they are written:
 * callers before callees. */
struct recorded_path {
	uint32_t parent; /* 0: outermost call of its lane */
	uint32_t function;
	uint32_t lane;
};

#endif
