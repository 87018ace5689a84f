/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of one call stack's counts, read from the tables. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_STACK_COPY_H
#define PROFTRACE_COLLECT_STACK_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_tables;
struct wire_callstack;

/* One call stack's record: its nodes in order of making, parents before children. */
struct stack_copy {
	pid_t pid, tid;
	uint64_t start_ns, goroutine, callstack_ns; /* as in struct profile_thread */
	bool spans;				    /* likewise */
	char comm[16];
	uint64_t entered, returned, unwound, deep;
	/* Cost, in ns, of the probes of outermost calls outside of them. 0 for call stacks of
	 * spans: that cost is in the part of the call stack that they are beside. */
	uint64_t outside_ns;
	uint32_t nodes_cnt;
	struct stack_copy_node {
		uint32_t parent; /* index in `nodes`, STACK_COPY_ROOT: outermost */
		uint32_t function;
		uint64_t calls, self_ns, min_ns, max_ns;
		uint64_t off_ns, probe_ns;	/* of self_ns: waiting; cost of our probes */
		uint32_t timed_ns, expected_ns; /* as in struct wire_node */
	} nodes[];
};

#define STACK_COPY_ROOT UINT32_MAX

/* Scratch memory for reading: node number -> index in the part, STACK_COPY_ROOT between reads. */
int stack_copy__scratch(const struct bpf_tables *t, uint32_t **out); /* 0 or -ENOMEM; free() it */

/*
 * Reads a call stack's record, open calls with the time they have had until `now_ns` or until the
 * call stack ended. Returns 0, with *out NULL if there is nothing to tell, or -ENOMEM; without
 * nodes, if it has called nothing, but probes have cost it something. The caller frees *out.
 */
int stack_copy__read(const struct bpf_tables *t, const struct wire_callstack *callstack,
		     uint64_t now_ns, uint32_t *scratch, struct stack_copy **out);

#endif
