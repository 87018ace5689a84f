/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a recording: the magic, then blocks. docs/record-format.md tells all of it. Numbers
 * are little-endian. Blocks are only ever added, and each is checked by itself: a file that was cut
 * is good up to its last whole block.
 */
#ifndef PROFTRACE_RECORD_FORMAT_FORMAT_H
#define PROFTRACE_RECORD_FORMAT_FORMAT_H

#include <stdint.h>

#define RECORD_MAGIC	 "PROFTRC\x01" /* the last byte is the version */
#define RECORD_MAGIC_LEN 8

#define BLOCK_MAGIC   0x4b4c4250u /* "PBLK" */
#define BLOCK_RAW_MAX (1u << 20)  /* what is longer goes into several blocks */

/* Types that a reader does not know are skipped. */
enum block_type {
	BLOCK_RUN = 1,	   /* a run begins: on what, by whom */
	BLOCK_PROFILE = 2, /* all that the run has found so far; the last whole one counts */
	BLOCK_END = 3,	   /* the run has ended in order; nothing of it follows */
	/* Single calls, between the profiles of their run. */
	BLOCK_PATHS = 4,     /* call stacks and paths, which go on from those before */
	BLOCK_CALLS = 5,     /* calls; never of several blocks */
	BLOCK_FORGOTTEN = 6, /* how many calls went to make room; the last whole one counts */
	BLOCK_WAITS = 7,     /* single waits; of several blocks if their names are very long */
};

#define BLOCK_MORE 0x01 /* the next block goes on with the same content */

struct block_header {
	uint32_t magic;
	uint16_t type;
	uint8_t flags;
	uint8_t unused;
	uint32_t raw_len;    /* of the content, at most BLOCK_RAW_MAX */
	uint32_t stored_len; /* of the zstd frame behind this header */
	uint32_t stored_crc; /* CRC-32 of that frame */
	uint32_t header_crc; /* of the fields before */
};

_Static_assert(sizeof(struct block_header) == 24, "is in files");

/* The content of blocks is tables: see layout.h. Tags are in files. */
enum table_tag {
	TABLE_STRINGS = 1,
	TABLE_RUN_INFO = 2,
	TABLE_ARGS = 3,
	TABLE_END = 4,
	TABLE_SUMMARY = 5,
	TABLE_PIDS = 6,
	TABLE_COMMAND = 7,
	TABLE_SITES = 8,
	TABLE_SKIPPED = 9,
	TABLE_FUNCTIONS = 10,
	TABLE_ALIASES = 11,
	TABLE_THREADS = 12,
	TABLE_NODES = 13,
	TABLE_BUCKETS = 14,
	TABLE_DROPS = 15,
	TABLE_CALLSTACKS = 16,
	TABLE_PATHS = 17,
	TABLE_SEGMENTS = 18,
	TABLE_CALLS = 19,
	TABLE_FORGOTTEN = 20,
	TABLE_ARGUMENTS = 21,
	TABLE_VALUES = 22,
	TABLE_LINES = 23,
	TABLE_INLINES = 24,
	TABLE_CPU_SHARES = 25,
	TABLE_WAITS = 26,
	TABLE_ESTIMATES = 27,
};

#endif
