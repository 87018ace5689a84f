/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared tables, mapped. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_BPF_TABLES_H
#define PROFTRACE_COLLECT_BPF_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/tracer.h"
#include "wire.h"

struct bpf_tables {
	struct tracer_tables info;
	struct wire_callstack *callstacks;
	struct wire_frame *frames;
	struct wire_node *nodes;
	struct wire_node_rest *node_rests;
	uint64_t *index;
	struct wire_dist *dists;
	uint64_t *dist_keys;
	struct wire_function_mode *function_modes;
	uint64_t *passed;	   /* by function, one share of CPUs behind the other */
	struct wire_chunk *chunks; /* NULL without --calls */
	struct wire_list *lists;   /* these two: NULL if no values are read */
	struct wire_values *values;
	struct wire_line_site *line_sites; /* these two: NULL if no lines are counted */
	struct wire_line_count *line_counts;
	struct wire_frame_rest *frame_rests; /* NULL without both */
	struct wire_callers *callers;	     /* NULL without --callers */
};

int bpf_tables__map(struct bpf_tables *t,
		    const struct tracer_tables *info); /* 0 or -errno, logged */
void bpf_tables__unmap(struct bpf_tables *t);

/* Entries that were ever in use: [1, n). */
uint32_t bpf_tables__callstacks(const struct bpf_tables *t);
uint32_t bpf_tables__nodes(const struct bpf_tables *t);
uint32_t bpf_tables__frames(const struct bpf_tables *t);

/* An entry by its number, or NULL if the number is out of range. */
struct wire_callstack *bpf_tables__callstack(const struct bpf_tables *t, uint32_t i);
struct wire_frame *bpf_tables__frame(const struct bpf_tables *t, uint32_t i);
struct wire_node *bpf_tables__node(const struct bpf_tables *t, uint32_t i);
struct wire_chunk *bpf_tables__chunk(const struct bpf_tables *t, uint32_t i);

/* Counts, over all CPUs, of calls that were seen and not recorded. */
struct wire_tally bpf_tables__tallies(const struct bpf_tables *t);

/* Sets counts of calls that were passed over, or seen in surveys, to 0. */
void bpf_tables__clear_passed(struct bpf_tables *t);

/* Sets to 0 all that is counted by function or CPU. */
void bpf_tables__clear_counts(struct bpf_tables *t);

/* When the call stack ended; 0: it has not. */
uint64_t bpf_tables__ended_ns(const struct bpf_tables *t, const struct wire_callstack *callstack);

/* Gives back a chunk whose calls have been read. */
void bpf_tables__release_chunk(struct bpf_tables *t, uint32_t number);

/* Ends a call stack that is no thread stack, unless a call is open on it. Whoever comes back to it
 * gets another one. Returns whether it has ended. */
bool bpf_tables__end_idle(struct bpf_tables *t, uint32_t number);

/* Ends the thread stacks of threads that do not exist any more; their end is taken for `now_ns`. */
void bpf_tables__end_gone(struct bpf_tables *t, uint64_t now_ns);

/* Gives back everything that an ended call stack holds, but for its chunks: see collect/drain.h. */
void bpf_tables__release_callstack(struct bpf_tables *t, uint32_t number);

#endif
