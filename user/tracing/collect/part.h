/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of one lane's counts, read from the tables. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_PART_H
#define PROFTRACE_COLLECT_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tables;
struct wire_lane;

/* One lane's record: its nodes in order of making, parents before children. */
struct part {
	pid_t pid, tid;
	uint64_t start_ns, goroutine, lane_ns; /* as in struct profile_thread */
	bool spans;			       /* likewise */
	char comm[16];
	uint64_t entered, returned, unwound, deep;
	/* Cost, in ns, of the probes of outermost calls outside of them. 0 for lanes of spans: that
	 * cost is in the part of the lane that they are beside. */
	uint64_t outside_ns;
	uint32_t nodes_cnt;
	struct part_node {
		uint32_t parent; /* index in `nodes`, PART_ROOT: outermost */
		uint32_t function;
		uint64_t calls, self_ns, min_ns, max_ns;
		uint64_t off_ns, probe_ns;	/* of self_ns: waiting; cost of our probes */
		uint32_t timed_ns, expected_ns; /* as in struct wire_node */
	} nodes[];
};

#define PART_ROOT UINT32_MAX

/* Scratch memory for reading: node number -> index in the part, PART_ROOT between reads. */
int part__scratch(const struct tables *t, uint32_t **out); /* 0 or -ENOMEM; free() it */

/*
 * Reads a lane's record, open calls with the time they have had until `now_ns` or until the
 * lane ended. Returns 0, with *out NULL if there is nothing to tell, or -ENOMEM; without nodes, if
 * it has called nothing, but probes have cost it something. The caller frees *out.
 */
int part__read(const struct tables *t, const struct wire_lane *lane, uint64_t now_ns,
	       uint32_t *scratch, struct part **out);

#endif
