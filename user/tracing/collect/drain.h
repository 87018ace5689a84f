/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetches single calls from the tables, call stack by call stack. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_DRAIN_H
#define PROFTRACE_COLLECT_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "timeline/stream.h"
#include "timeline/timeline.h"

struct bpf_tables;
struct value_store;
struct wire_spot;

struct drain {
	struct bpf_tables *tables; /* borrowed, as are its maps; NULL: there are no single calls */
	struct call_stream stream;
	uint64_t start_ns; /* what times count from */
	struct drain_place {
		uint32_t chunk;	    /* the next one to read; 0: the call stack's first */
		uint32_t taken;	    /* calls of that that have been read */
		uint32_t callstack; /* its number in the stream; 0: it has none */
	} * places;		    /* by call stack */
	uint32_t *paths;	    /* by node: its number in the stream; 0: it has none */
	uint32_t callstacks_cnt, paths_cnt;
	uint64_t overwaited; /* finished calls with more time off the CPU than they took */
	/* Paths and calls that are sent next. */
	struct recorded_path *new_paths;
	size_t new_paths_cnt, new_paths_cap;
	struct timeline_call *calls;
	size_t calls_cnt, calls_cap;
	struct value_store *values; /* of those calls; NULL: none are read */
	uint64_t sent;		    /* calls */
};

/* Finds where the tables keep single calls. Returns 0 or -ENOMEM. */
int drain__init(struct drain *d, struct bpf_tables *t);
void drain__fini(struct drain *d); /* of a zeroed one, too */

/* Sends what a call stack has finished since the last time. Returns 0 or -errno, logged. */
int drain__callstack(struct drain *d, uint32_t number);

/* Sends all that is left of a call stack on which nothing can happen any more, with the calls that
 * are open: as ending at `end_ns` (monotonic). Returns 0 or -errno, logged. */
int drain__last(struct drain *d, uint32_t number, uint64_t end_ns);

/* The number of the call stack `number`, if it still is the one that had `lives`, and of the path
 * of its node, which may be new; both 0: it is not, or there is none. They are sent before anything
 * else that is sent of this drain. Returns 0 or -errno, logged. */
int drain__place(struct drain *d, const struct wire_spot *at, uint32_t *callstack, uint32_t *path);
/* Sends paths that drain__place() has found new. Returns likewise. */
int drain__send_paths(struct drain *d);

/* The call stack's chunks go back, and its entry and those of its paths will be used for something
 * else.
 */
void drain__forget(struct drain *d, uint32_t number);

#endif
