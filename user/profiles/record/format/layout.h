/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which field of which struct is which column of which table. Writer and reader both go by these
 * rows, so that they cannot differ. A column's number is in files: it is never used again for
 * something else. Readers skip columns that they do not know, and fields without a column are 0.
 */
#ifndef PROFTRACE_RECORD_FORMAT_LAYOUT_H
#define PROFTRACE_RECORD_FORMAT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format/format.h"

enum field_kind {
	FIELD_U32,
	FIELD_U64,
	FIELD_I32, /* signed ones as 0, -1, 1, -2, ... */
	FIELD_I64,
	FIELD_DOUBLE, /* its 64 bits; finite */
	/* A double that is a whole number, up to WHOLE_MAX: that number; from 2^63 on its 64 bits
	 * and the highest one. */
	FIELD_WHOLE,
	FIELD_STRING, /* const char *: its number in the table of strings; 0: NULL */
	FIELD_COMM,   /* char[16]: the same */
};

struct field {
	uint8_t column;
	uint8_t kind;
	bool delta; /* stored is the signed difference to the row before */
	uint16_t offset;
};

#define WHOLE_IS_DOUBLE (1ull << 63)
#define WHOLE_MAX	0x1p100 /* sums of them, and their roots, stay numbers */

struct layout {
	enum table_tag tag;
	uint16_t size; /* of a row's struct */
	uint16_t fields_cnt;
	const struct field *fields;
};

/* Rows of tables that are no array of struct profile. */
struct pid_row {
	int32_t pid;
};

struct string_row {
	const char *string;
};

struct alias_row {
	uint32_t function;
	const char *symbol;
};

struct site_row {
	const char *class_name;
	uint64_t count;
};

/* Calls of one call stack that follow each other in a block. */
struct segment_row {
	uint32_t callstack, cnt;
};

/* A call of a segment. */
struct call_row {
	uint64_t gap_ns; /* its end less that of the call before; of the first, less the start */
	uint64_t duration_ns, off_ns;
	uint32_t path;
	uint32_t open; /* 1: as timeline_call::open; else 0 */
};

/* A value of a call: those of a call follow each other, in the order of its function's arguments.
 */
struct value_row {
	uint32_t call; /* of the block, from 0 on */
	uint32_t kind; /* of struct call_value */
	uint64_t bits;
	const char *text;
};

extern const struct layout layout_run_info, layout_args, layout_end; /* run_info.h */
extern const struct layout layout_summary;			     /* one row: struct profile */
extern const struct layout layout_pids, layout_command, layout_sites, layout_skipped;
extern const struct layout layout_functions, layout_aliases, layout_threads, layout_nodes;
extern const struct layout layout_buckets, layout_drops, layout_cpu_shares, layout_estimates;
extern const struct layout layout_callstacks, layout_paths; /* timeline/stream.h */
extern const struct layout layout_arguments, layout_lines, layout_inlines;
extern const struct layout layout_segments, layout_calls, layout_values;
extern const struct layout layout_call_paths; /* of layout_calls just the path: uint32_t */
extern const struct layout layout_waits;      /* timeline/stream.h */
extern const struct layout layout_forgotten;  /* run_info.h */

#endif
