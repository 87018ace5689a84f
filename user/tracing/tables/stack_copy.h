/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of one call stack's counts, read from the tables. */
#ifndef PROFTRACE_TABLES_STACK_COPY_H
#define PROFTRACE_TABLES_STACK_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_tables;
struct wire_callstack;

/* Samples that were taken at a path, and waits there. */
struct stack_copy_sample {
	uint32_t base; /* that of the innermost call that was open, whose CPU time theirs is part
			  of; STACK_COPY_ROOT: none was, and their time is nobody's as yet */
	uint32_t node; /* where they were taken: the base, or a path below it */
	uint64_t cnt;
	uint64_t ns; /* of CPU time that they stand for */
	uint64_t off_ns;
};

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
	struct stack_copy_sample *samples; /* behind the nodes */
	uint32_t samples_cnt;
	uint32_t nodes_cnt;
	struct stack_copy_node {
		uint32_t parent; /* index in `nodes`, STACK_COPY_ROOT: outermost */
		uint32_t function;
		uint64_t calls, self_ns, min_ns, max_ns;
		uint64_t burst_calls;		/* of calls: in bursts */
		uint64_t off_ns, probe_ns;	/* of self_ns: waiting; cost of our probes */
		uint32_t timed_ns, expected_ns; /* as in struct wire_node */
		uint32_t number;		/* in the tables; 0: it was never there */
	} nodes[];
};

#define STACK_COPY_ROOT UINT32_MAX

/* Scratch memory for reading: node number -> index in the part, STACK_COPY_ROOT between reads. */
int stack_copy__scratch(const struct bpf_tables *t, uint32_t **out); /* 0 or -ENOMEM; free() it */

/* For how long nobody has run on a call stack, in ns; 0: somebody does, as far as is known. */
uint64_t stack_copy__idle_ns(const struct bpf_tables *t, const struct wire_callstack *callstack,
			     uint64_t now_ns);

/*
 * Reads a call stack's record, open calls with the time they have had until `now_ns` or until the
 * call stack ended. Returns 0, with *out NULL if there is nothing to tell, or -ENOMEM; without
 * nodes, if it has called nothing, but probes have cost it something. The caller frees *out.
 */
int stack_copy__read(const struct bpf_tables *t, const struct wire_callstack *callstack,
		     uint64_t now_ns, uint32_t *scratch, struct stack_copy **out);

/* A copy on its way, whose paths are found by their last step. */
struct copy_paths {
	struct stack_copy *to; /* the caller frees it */
	uint32_t *index, mask; /* open addressing: node number plus 1 */
};

/* Begins a copy like `from`, as yet without nodes and samples, with room for so many of both.
 * Returns 0 or -ENOMEM. */
int copy_paths__init(struct copy_paths *x, const struct stack_copy *from, size_t nodes,
		     size_t samples);
void copy_paths__fini(struct copy_paths *x);

/* The node of a path, below the node `parent` or STACK_COPY_ROOT; made if need be. */
uint32_t copy_paths__node(struct copy_paths *x, uint32_t parent, uint32_t function);
/* Adds figures to a node. */
void copy_paths__add(struct copy_paths *x, uint32_t node, const struct stack_copy_node *more);
/* Adds samples, for which there is room. */
void copy_paths__sample(struct copy_paths *x, const struct stack_copy_sample *sample);
/* Adds all samples of another copy, whose nodes are at[node] here. */
void copy_paths__samples(struct copy_paths *x, const struct stack_copy *from, const uint32_t *at);

#endif
