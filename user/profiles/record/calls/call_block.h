/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of blocks of single calls. Inside record/ only, and for its tests. */
#ifndef PROFTRACE_RECORD_CALLS_CALL_BLOCK_H
#define PROFTRACE_RECORD_CALLS_CALL_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/decode.h"
#include "record/format/run_info.h"
#include "timeline/stream.h"

struct bytes;
struct call_value;
struct segment_row;
struct timeline_call;

/* The most waits that are written together: they have room in one block if their names, each once,
 * have WAIT_BLOCK_NAMES bytes at most. Others take several blocks. */
#define WAIT_BLOCK_WAITS 4096
#define WAIT_BLOCK_NAMES (448u << 10)

/* A block has room for so many calls in so few segments, whatever they are. */
#define CALL_BLOCK_CALLS    16384
#define CALL_BLOCK_SEGMENTS 64

/* And for values of so many bytes, of which those of one call are no more than that, or are not
 * kept. */
#define CALL_BLOCK_VALUES (384u << 10)
#define CALL_VALUES_SIZE  4096u
uint32_t call_block__value_size(const struct call_value *v);

/* Calls of one call stack, in order of their ends; `node` is the path's number. */
struct call_segment {
	uint32_t callstack, cnt;
	const struct timeline_call *calls; /* borrowed */
};

/* Each appends to `out`, which the caller frees, and returns 0 or -ENOMEM. */
int encode__calls(const struct call_segment *segments, size_t cnt, struct bytes *out);
int encode__paths(const struct recorded_callstack *callstacks, size_t callstacks_cnt,
		  const struct recorded_path *paths, size_t paths_cnt, struct bytes *out);
int encode__waits(const struct recorded_wait *waits, size_t cnt, struct bytes *out);
int encode__forgotten(const struct recorded_gap *gap, struct bytes *out);

/* Each returns 0, -EINVAL (the content makes no sense) or -ENOMEM. Memory is in proportion to
 * `len`. Arrays are the caller's to free, if 0 is returned. */

/* The segments, none empty; *last_path: the highest of their calls' paths. */
int decode__segments(const uint8_t *data, size_t len, struct segment_row **segments, size_t *cnt,
		     uint32_t *last_path);

/* The calls, segment by segment. No call ends before its segment's one before, or begins before 0
 * or behind its end, or was off the CPU for longer than it took; `node` may be anything. Their
 * values lie in `m`, zeroed before, which the caller frees in any case. */
int decode__calls(const uint8_t *data, size_t len, struct memory *m, struct timeline_call **calls,
		  size_t *cnt);

/* Nothing is checked but that the tables are tables. */
int decode__paths(const uint8_t *data, size_t len, struct recorded_callstack **callstacks,
		  size_t *callstacks_cnt, struct recorded_path **paths, size_t *paths_cnt);
/* Names lie in `m`, as of decode__calls(). Nothing else is checked. */
int decode__waits(const uint8_t *data, size_t len, struct memory *m, struct recorded_wait **waits,
		  size_t *cnt);
int decode__forgotten(const uint8_t *data, size_t len, struct recorded_gap *gap);

#endif
