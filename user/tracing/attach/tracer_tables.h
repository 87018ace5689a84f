/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables that BPF writes, as the tracer has made them and collect/ maps them. */
#ifndef PROFTRACE_ATTACH_TRACER_TABLES_H
#define PROFTRACE_ATTACH_TRACER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire_tables.h"

/* Their sizes and descriptors, and what is written beside them. */
struct tracer_tables {
	/* Entries, as bpf/wire_tables.h takes them. */
	uint32_t callstacks_cap, frames_cap, nodes_cap, index_cap, dists_cap, function_modes_cap;
	uint32_t chunks_cap;		     /* 0: single calls are not kept */
	uint32_t lists_cap;		     /* 0: no values of arguments are read */
	uint32_t lines_cap;		     /* sites, with number 0; 0: none are counted */
	uint32_t callers_cap;		     /* 0: none are unwound */
	uint32_t seeds_cap;		     /* 0: none are taken */
	uint32_t samples_cap;		     /* of each half; 0: none are taken */
	uint32_t waits_cap;		     /* 0: places of waits are not looked for */
	uint32_t habits_cap;		     /* 0: they are for each wait */
	uint32_t ring_cap, rings;	     /* of single waits, in each; 0: none are kept */
	uint32_t files_cap;		     /* names of files; 0: none are looked for */
	uint32_t passed_shares, line_shares; /* of CPUs, in the tables of those counts */
	bool emulates;			     /* programs emulate instructions at entries */
	bool counts;			     /* calls are counted by entries alone, for moments */
	uint32_t threads_cap, goroutines_cap, followed_cap, unwind_tables_cap, unwind_spaces_cap;
#define TABLE_FD(NAME, ...) int NAME##_fd;
	WIRE_TABLES(TABLE_FD)
	WIRE_QUEUES(TABLE_FD)
	WIRE_MAPS(TABLE_FD)
#undef TABLE_FD
	/* Live counters, written by BPF. */
	/* [WIRE_BURSTS] CLOCK_MONOTONIC: when each of the last bursts ended, by
	 * WIRE_FRAME_BURST_NUM(): calls of one that are open since before may have left unseen.
	 * NULL: no bursts. */
	const volatile uint64_t *burst_ends_ns;
	const volatile uint32_t *next_callstack, *next_frame, *next_node, *next_dist;
	struct wire_tally *tallies; /* [WIRE_CPUS] */
	/* To be set before the first switch is. */
	bool *switches_set;
	const volatile bool *go_traced;	       /* goroutines are told apart */
	const volatile uint64_t *callers_lost; /* stacks, for want of room */
	volatile uint32_t *samples_half;
	const volatile struct wire_sample_counts *sample_counts; /* [WIRE_CPUS] */
	volatile struct wire_wait_counts *wait_counts;		 /* [WIRE_CPUS] */
	volatile struct wire_ring_counts *ring_counts;		 /* [WIRE_CPUS] */
	const volatile struct wire_file_maker *file_makers;	 /* [WIRE_CPUS] */
};

#endif
