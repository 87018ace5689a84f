/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables whose size is the run's choice, each in one row: BPF defines them, and user space
 * sizes, finds and maps them, by these lists alone. Sizes are expressions of `tables`, a struct
 * tracer_tables (attach/tracer.h); where one is 0 the table is not used, and stays as it is
 * defined.
 */
#ifndef PROFTRACE_WIRE_TABLES_H
#define PROFTRACE_WIRE_TABLES_H

#include "wire.h"

/* Arrays in memory that both sides share: X(NAME, TYPE of an entry, ENTRIES). */
#define WIRE_TABLES(X)                                                                            \
	X(callstacks, struct wire_callstack, tables->callstacks_cap)                              \
	X(frames, struct wire_frame, tables->frames_cap)                                          \
	X(nodes, struct wire_node, tables->nodes_cap)                                             \
	X(node_rests, struct wire_node_rest, tables->nodes_cap)                                   \
	X(node_index, u64, tables->index_cap)                                                     \
	X(dists, struct wire_dist, tables->dists_cap)                                             \
	X(dist_keys, u64, tables->dists_cap)                                                      \
	X(dist_index, u64, tables->dists_cap)                                                     \
	/* By function; those behind its end cannot be dropped. */                                \
	X(function_modes, struct wire_function_mode, tables->function_modes_cap)                  \
	/* Where programs may write registers; by function. */                                    \
	X(emulations, struct wire_emulation, tables->emulates ? tables->function_modes_cap : 0)   \
	/* Calls since the drop, by function, one share of CPUs behind the other. */              \
	X(passed, u64, tables->function_modes_cap * tables->passed_shares)                        \
	/* Calls that were counted by entries alone, by function, likewise. */                    \
	X(counted, u64, tables->counts ? tables->function_modes_cap * tables->passed_shares : 0)  \
	/* Hits of exits in no call of the function, likewise. */                                 \
	X(strays, u64, tables->function_modes_cap * tables->passed_shares)                        \
	/* With --calls. */                                                                       \
	X(chunks, struct wire_chunk, tables->chunks_cap)                                          \
	/* With -A; values by frame. */                                                           \
	X(lists, struct wire_list, tables->lists_cap)                                             \
	X(values, struct wire_values, tables->lists_cap ? tables->frames_cap : 0)                 \
	/* With --lines; counts by site, one share of CPUs behind the other; entries by function: \
	 * the site that its entry stands for, 0: none. */                                        \
	X(line_sites, struct wire_line_site, tables->lines_cap)                                   \
	X(line_counts, struct wire_line_count, tables->lines_cap * tables->line_shares)           \
	X(line_entries, u64, tables->lines_cap ? tables->function_modes_cap : 0)                  \
	/* With --calls or --lines. */                                                            \
	X(frame_rests, struct wire_frame_rest,                                                    \
	  tables->chunks_cap || tables->lines_cap ? tables->frames_cap : 0)                       \
	/* With --callers. */                                                                     \
	X(callers, struct wire_callers, tables->callers_cap)                                      \
	X(seeds, struct wire_seed, tables->seeds_cap)                                             \
	/* With --sample-rate: two halves. */                                                     \
	X(samples, struct wire_sample, tables->samples_cap * 2)                                   \
	X(waits, struct wire_wait, tables->waits_cap)                                             \
	/* With --calls: one ring behind the other. */                                            \
	X(single_waits, struct wire_single_wait, tables->ring_cap * tables->rings)                \
	/* With any of the three above, or --syscalls. */                                         \
	X(files, struct wire_file, tables->files_cap)

/* Queues of entries that were given back: X(NAME, ENTRIES). */
#define WIRE_QUEUES(X)                             \
	X(free_callstacks, tables->callstacks_cap) \
	X(free_frames, tables->frames_cap)         \
	X(free_nodes, tables->nodes_cap)           \
	X(free_chunks, tables->chunks_cap)

/* Others, each defined beside its user: X(NAME, ENTRIES). */
#define WIRE_MAPS(X)                                           \
	X(stack_of_tid, tables->threads_cap)                   \
	X(goroutines, tables->goroutines_cap)                  \
	X(tgids, tables->followed_cap)                         \
	X(callers_of_hash, tables->callers_cap)                \
	X(unwind_tables, tables->unwind_tables_cap)            \
	X(unwind_spaces, tables->unwind_spaces_cap)            \
	X(waiters, tables->waits_cap ? WIRE_WAITERS : 0)       \
	X(wait_habits, tables->habits_cap)                     \
	X(file_cache, tables->files_cap ? WIRE_FILE_CACHE : 0) \
	X(sleepers, tables->ring_cap ? WIRE_WAITERS : 0)

#endif
