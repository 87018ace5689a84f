/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of the collector, for the files that it is made of. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_COLLECTOR_INSIDE_H
#define PROFTRACE_COLLECT_COLLECTOR_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/costs.h"
#include "calls/profile.h"
#include "collect/drain.h"
#include "collect/expand.h"
#include "collect/figures.h"
#include "collect/ring_reader.h"
#include "collect/sample_store.h"
#include "collect/seeds.h"
#include "collect/wait_store.h"
#include "tables/bpf_tables.h"
#include "tables/file_names.h"

struct line_sum;
struct stack_copy;

struct collector {
	struct bpf_tables tables;
	uint32_t *scratch;   /* for stack_copy__read() */
	uint64_t *entered;   /* by call stack: calls up to the last time that tables were short */
	uint64_t *inclusive; /* by node, for collector__usage() */
	size_t inclusive_cap;
	struct stack_copy **reclaimed;
	size_t reclaimed_cnt, reclaimed_cap;
	uint64_t reclaimed_calls;
	struct profile_accounting forgotten; /* of reclaimed threads that were dropped */
	struct probe_costs costs;
	struct function_probes *probes; /* by function; NULL: not known */
	uint32_t probes_cnt;
	/* By function; NULL: nothing is estimated. */
	struct calls_estimate *estimates;
	uint32_t estimates_cnt;
	bool raw;
	bool scaled; /* some calls stand for others: paths may have more than were entered */
	uint32_t functions_cnt;
	struct function_usage *reclaimed_usage; /* by function */
	/* Functions that may have been called or passed over: see collector__usage_of_used(). */
	uint32_t *used;
	bool *is_used; /* by function */
	uint32_t used_cnt, used_cap;
	bool *seen;	/* functions that have a path */
	bool *restored; /* functions whose calls were passed over, and are recorded again */
	uint32_t seen_cnt, seen_nodes, seen_again;
	struct drain drain;
	struct ring_reader ring;
	bool streams; /* single calls go somewhere */
	/* By site of lines: the time of calls that were open when their threads ended. NULL: no
	 * lines are counted. */
	struct line_sum *reclaimed_lines;
	struct expansions expansions; /* stacks NULL: callers are not looked for */
	struct sample_store samples;
	struct seeds seeds;
	struct wait_store waits;
	struct file_names files;
	uint64_t forgotten_cpu_ns; /* of reclaimed threads that were dropped: of their calls */
};

#endif
