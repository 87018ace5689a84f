/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single calls that wait until there are enough of their call stack for a block. Inside record/
 * only. */
#ifndef PROFTRACE_RECORD_CALLS_GATHER_H
#define PROFTRACE_RECORD_CALLS_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct call_segment;
struct timeline_call;

struct gather_callstack {
	struct timeline_call *calls; /* each owns its values */
	uint32_t cnt, cap;
	uint32_t values_size; /* what their values take in a block, at most */
};

/* All zero: nothing. */
struct gather {
	struct gather_callstack *callstacks; /* by number */
	size_t callstacks_cap;
	uint32_t *filled; /* call stacks that have memory for calls */
	size_t filled_cnt, filled_cap;
	size_t room;	    /* calls that memory is held for */
	size_t values_size; /* of all, as in gather_callstack */
};

/* Takes as many calls as make the call stack's enough for a block, with copies of their values.
 * Returns how many, or -ENOMEM. */
ssize_t gather__add(struct gather *g, uint32_t callstack, const struct timeline_call *calls,
		    size_t cnt);

/* Returns 0 or -errno. The segments are valid until it returns. */
typedef int (*gather_writer)(void *ctx, const struct call_segment *segments, size_t cnt);

/* Whether so many are gathered that some ought to go, and whether the call stack's are enough. */
bool gather__too_many(const struct gather *g);
bool gather__full(const struct gather *g, uint32_t callstack);

/* Have calls written, and let go of them: those of a call stack; of those call stacks that make up
 * at least half of what is gathered; or of all. Call stacks with few calls share blocks. Return 0,
 * or what `write` returned. */
int gather__write_callstack(struct gather *g, uint32_t callstack, gather_writer write, void *ctx);
int gather__write_most(struct gather *g, gather_writer write, void *ctx);
int gather__write_all(struct gather *g, gather_writer write, void *ctx);

void gather__fini(struct gather *g);

#endif
