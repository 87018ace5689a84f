/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An index of a run's single calls in the file. Inside record/ only. */
#ifndef PROFTRACE_RECORD_CALLS_CALL_INDEX_H
#define PROFTRACE_RECORD_CALLS_CALL_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "record/calls/block_reader.h"

/* Calls `first` to `first` + `cnt` of a block's are the call stack's. */
struct indexed_segment {
	uint32_t block, callstack;
	uint32_t first, cnt;
};

/* All zero: none. */
struct call_index {
	uint64_t *blocks; /* their headers' places */
	struct indexed_segment *segments;
	struct content *names; /* call stacks and paths */
	struct content *waits;
	struct content forgotten;
	size_t blocks_cnt, blocks_cap, segments_cnt, segments_cap, names_cnt, names_cap;
	size_t waits_cnt, waits_cap;
	uint64_t calls;
	uint32_t last_path; /* the highest number of a path that any call has */
};

/* Adds a block of calls, of which the content is given, as long as there are no more than
 * `segments_max`. Returns 0, -EINVAL (it makes no sense) or -ENOMEM. */
int call_index__add(struct call_index *x, uint64_t at, const uint8_t *data, size_t len,
		    uint64_t segments_max);

/* A place for one more block of call stacks and paths; NULL: memory is short. */
struct content *call_index__add_names(struct call_index *x);

/* A place for one more block of waits; NULL: memory is short. */
struct content *call_index__add_waits(struct call_index *x);

void call_index__fini(struct call_index *x);

#endif
