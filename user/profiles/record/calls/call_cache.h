/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of calls that were read. Inside record/ only. */
#ifndef PROFTRACE_RECORD_CALLS_CALL_CACHE_H
#define PROFTRACE_RECORD_CALLS_CALL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/decode.h"

#define CALL_CACHE_ENTRIES 1024

struct block_reader;
struct timeline_call;

struct cached_block {
	uint64_t at; /* of its header; 0: none */
	struct timeline_call *calls;
	size_t cnt;
	struct memory values; /* of the calls */
};

/*
 * Small blocks are those of many call stacks, which are read once for each; so many are kept, up to
 * 32 MiB, that the call stacks that share blocks now and later are read through one after the
 * other. Of large ones the last is kept. All zero: empty.
 */
struct call_cache {
	struct cached_block large, small[CALL_CACHE_ENTRIES];
};

/* *out = the block at `at`, valid until the next one is asked for. Returns 0, -EINVAL (it is not
 * whole, or makes no sense), -ENODATA (the file ends before it does) or -errno. */
int call_cache__get(struct call_cache *c, struct block_reader *r, uint64_t at,
		    const struct cached_block **out);
void call_cache__fini(struct call_cache *c);

#endif
