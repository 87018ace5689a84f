// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/calls/call_cache.h"

#include <stdlib.h>

#include "record/calls/block_reader.h"
#include "record/calls/call_block.h"

#define SMALL_CALLS 1024	/* that a small block has at most */
#define SMALL_SIZE  (64u << 10) /* bytes: those calls, and some values */

/* By the golden ratio (Knuth's multiplicative hash): neighbours are far apart. */
static struct cached_block *slot_of(struct call_cache *c, uint64_t at)
{
	return &c->small[(at * 0x9e3779b97f4a7c15ull >> 32) % CALL_CACHE_ENTRIES];
}

static void forget(struct cached_block *b)
{
	free(b->calls);
	memory__free(&b->values);
}

int call_cache__get(struct call_cache *c, struct block_reader *r, uint64_t at,
		    const struct cached_block **out)
{
	struct cached_block *slot = slot_of(c, at), read = {.at = at};
	struct block_header h;
	int err;

	*out = c->large.at == at ? &c->large : slot;
	if ((*out)->at == at)
		return 0;
	err = block_reader__read(r, at, &h);
	if (!err)
		err = decode__calls(r->raw, h.raw_len, &read.values, &read.calls, &read.cnt);
	if (err) {
		memory__free(&read.values);
		return err;
	}
	if (read.cnt > SMALL_CALLS || h.raw_len > SMALL_SIZE)
		slot = &c->large;
	forget(slot);
	*slot = read;
	*out = slot;
	return 0;
}

void call_cache__fini(struct call_cache *c)
{
	forget(&c->large);
	for (size_t i = 0; i < CALL_CACHE_ENTRIES; i++)
		forget(&c->small[i]);
}
