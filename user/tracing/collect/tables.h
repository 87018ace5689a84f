/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared tables, mapped. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_TABLES_H
#define PROFTRACE_COLLECT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/tracer.h"
#include "wire.h"

struct tables {
	struct tracer_tables info;
	struct wire_lane *lanes;
	struct wire_frame *frames;
	struct wire_node *nodes;
	struct wire_node_rest *node_rests;
	uint64_t *index;
	struct wire_dist *dists;
	uint64_t *dist_keys;
	struct wire_switch *switches;
	uint64_t *passed;	   /* by function, one share of CPUs behind the other */
	struct wire_chunk *chunks; /* NULL without --calls */
	struct wire_list *lists;   /* these two: NULL if no values are read */
	struct wire_values *values;
	struct wire_line_site *line_sites; /* these two: NULL if no lines are counted */
	struct wire_line_count *line_counts;
	struct wire_frame_rest *frame_rests; /* NULL without both */
	struct wire_callers *callers;	     /* NULL without --callers */
};

int tables__map(struct tables *t, const struct tracer_tables *info); /* 0 or -errno, logged */
void tables__unmap(struct tables *t);

/* Entries that were ever in use: [1, n). */
uint32_t tables__lanes(const struct tables *t);
uint32_t tables__nodes(const struct tables *t);
uint32_t tables__frames(const struct tables *t);

/* An entry by its number, or NULL if the number is out of range. */
struct wire_lane *tables__lane(const struct tables *t, uint32_t i);
struct wire_frame *tables__frame(const struct tables *t, uint32_t i);
struct wire_node *tables__node(const struct tables *t, uint32_t i);
struct wire_chunk *tables__chunk(const struct tables *t, uint32_t i);

/* Counts, over all CPUs, of calls that were seen and not recorded. */
struct wire_tally tables__tallies(const struct tables *t);

/* Sets counts of calls that were passed over, or seen in surveys, to 0. */
void tables__clear_passed(struct tables *t);

/* Sets to 0 all that is counted by function or CPU. */
void tables__clear_counts(struct tables *t);

/* When the lane ended; 0: it has not. */
uint64_t tables__ended_ns(const struct tables *t, const struct wire_lane *lane);

/* Gives back a chunk whose calls have been read. */
void tables__release_chunk(struct tables *t, uint32_t number);

/* Ends a lane that is no home, unless a call is open on it. Whoever comes back to it gets another
 * one. Returns whether it has ended. */
bool tables__end_idle(struct tables *t, uint32_t number);

/* Ends the homes of threads that do not exist any more; their end is taken for `now_ns`. */
void tables__end_gone(struct tables *t, uint64_t now_ns);

/* Gives back everything that an ended lane holds, but for its chunks: see collect/drain.h. */
void tables__release_lane(struct tables *t, uint32_t number);

#endif
