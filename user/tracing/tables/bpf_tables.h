/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared tables, mapped. */
#ifndef PROFTRACE_TABLES_BPF_TABLES_H
#define PROFTRACE_TABLES_BPF_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/tracer.h"
#include "wire.h"

struct growing_table;

/* Tables that fill from their begin. */
enum bpf_tables_growing {
	GROWING_CALLSTACKS,
	GROWING_FRAMES,
	GROWING_NODES,
	GROWING_NODE_RESTS,
	GROWING_DISTS,
	GROWING_TABLES
};

struct bpf_tables {
	struct tracer_tables info;
	struct growing_table *growing; /* [GROWING_TABLES] */

	/* By their names; NULL: this run does not use it. */
#define TABLE_AT(NAME, TYPE, ENTRIES) TYPE *NAME;
	WIRE_TABLES(TABLE_AT)
#undef TABLE_AT
};

int bpf_tables__map(struct bpf_tables *t,
		    const struct tracer_tables *info); /* 0 or -errno, logged */
void bpf_tables__unmap(struct bpf_tables *t);

/* Entries that were ever in use: [1, n). */
uint32_t bpf_tables__callstacks(const struct bpf_tables *t);
uint32_t bpf_tables__nodes(const struct bpf_tables *t);
uint32_t bpf_tables__frames(const struct bpf_tables *t);
uint32_t bpf_tables__dists(const struct bpf_tables *t);

/* An entry by its number, or NULL if the number is out of range. */
struct wire_callstack *bpf_tables__callstack(const struct bpf_tables *t, uint32_t i);
struct wire_frame *bpf_tables__frame(const struct bpf_tables *t, uint32_t i);
struct wire_node *bpf_tables__node(const struct bpf_tables *t, uint32_t i);
struct wire_chunk *bpf_tables__chunk(const struct bpf_tables *t, uint32_t i);

/* Counts, over all CPUs, of calls that were seen and not recorded. */
struct wire_tally bpf_tables__tallies(const struct bpf_tables *t);

/* Sets to 0 all that is counted by function or CPU. */
void bpf_tables__clear_counts(struct bpf_tables *t);

/* When the call stack ended; 0: it has not. */
uint64_t bpf_tables__ended_ns(const struct bpf_tables *t, const struct wire_callstack *callstack);
/* Until when calls that are open on the call stack last, `now_ns` at the latest: a thread may end
 * after the run, while probes are taken out. */
uint64_t bpf_tables__open_until(const struct bpf_tables *t, const struct wire_callstack *callstack,
				uint64_t now_ns);

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
