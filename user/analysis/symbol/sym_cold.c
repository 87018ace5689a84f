// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which function is NAME.cold, or NAME.__part.1, a piece of? The one called NAME; of several
 * (static functions of different source files), the one of the same file. Names are found by their
 * hash in a sorted index, so that a file with millions of equal names costs no more than any other.
 */
#include "symbol/sym_entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symtab.h"
#include "util/hash.h"
#include "util/search.h"

/* Namesakes looked at for the nearest address, around the place where the piece would sort. */
#define MAX_NAMESAKES 64

struct key {
	uint64_t hash;
	uint32_t file, order;
	uint32_t entry;
};

struct index {
	const struct sym_entry *entries;
	struct key *keys; /* by hash, file, order */
	size_t cnt;
};

/* Length of what precedes the suffix; 0: the name does not end with it, or has nothing else. */
static size_t length_before(const char *name, size_t len, const char *suffix)
{
	const size_t suffix_len = strlen(suffix);

	if (len <= suffix_len || memcmp(name + len - suffix_len, suffix, suffix_len))
		return 0;
	return len - suffix_len;
}

size_t sym_entry__cold_prefix(const char *name, size_t len)
{
	size_t end = len, part = 0;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end < len && end && name[end - 1] == '.') {
		len = end - 1;
		part = length_before(name, len, ".__part");
	}
	return part ? part : length_before(name, len, ".cold");
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int cmp_keys(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;
	int cmp = cmp_u64(a->hash, b->hash);

	cmp = cmp ?: cmp_u64(a->file, b->file);
	return cmp ?: cmp_u64(a->order, b->order);
}

static bool is_piece(const struct sym_entry *entries, size_t i)
{
	/* The preferred name comes first, and a cold one is preferred only if all are cold. */
	return entries[i].is_cold && entries[i].kind != SYMBOL_IFUNC &&
	       (i == 0 || entries[i - 1].symbol != entries[i].symbol);
}

static int build_index(struct index *index, const struct sym_entry *entries, size_t cnt)
{
	size_t i;

	*index = (struct index){.entries = entries};
	index->keys = calloc(cnt, sizeof(*index->keys));
	if (!index->keys)
		return -ENOMEM;
	for (i = 0; i < cnt; i++) {
		const struct sym_entry *e = &entries[i];

		/* Never a piece of a piece: following piece_of ends after one step. */
		if (e->is_cold || e->kind == SYMBOL_NOTYPE)
			continue;
		index->keys[index->cnt++] = (struct key){
			.hash = hash__keyed(e->name, e->len),
			.file = e->file,
			.order = e->order,
			.entry = i,
		};
	}
	qsort(index->keys, index->cnt, sizeof(*index->keys), cmp_keys);
	return 0;
}

/* The first key that sorts behind `key`. */
static size_t upper_bound(const struct index *index, const struct key *key)
{
	return LOWER_BOUND(index->cnt, i, cmp_keys(&index->keys[i], key) <= 0);
}

static const struct sym_entry *namesake(const struct index *index, size_t i,
					const struct sym_entry *cold, size_t len)
{
	const struct sym_entry *e;

	if (i >= index->cnt)
		return NULL;
	e = &index->entries[index->keys[i].entry];
	return e->len == len && !memcmp(e->name, cold->name, len) ? e : NULL;
}

static uint64_t distance(const struct sym_entry *a, const struct sym_entry *b)
{
	return a->vaddr > b->vaddr ? a->vaddr - b->vaddr : b->vaddr - a->vaddr;
}

static const struct sym_entry *nearest(const struct index *index, size_t at,
				       const struct sym_entry *cold, size_t len)
{
	size_t first = at > MAX_NAMESAKES / 2 ? at - MAX_NAMESAKES / 2 : 0;
	const struct sym_entry *best = NULL;
	size_t i;

	for (i = first; i < first + MAX_NAMESAKES; i++) {
		const struct sym_entry *e = namesake(index, i, cold, len);

		if (e && (!best || distance(e, cold) < distance(best, cold)))
			best = e;
	}
	return best;
}

static const struct sym_entry *find_whole(const struct index *index, const struct sym_entry *cold)
{
	size_t len = sym_entry__cold_prefix(cold->name, cold->len);
	struct key key = {
		.hash = hash__keyed(cold->name, len),
		.file = cold->file,
		.order = cold->order,
	};
	const struct sym_entry *before, *after, *global;
	size_t at = upper_bound(index, &key);

	before = at ? namesake(index, at - 1, cold, len) : NULL;
	if (before && before->file == cold->file)
		return before;
	after = namesake(index, at, cold, len);
	if (after && after->file == cold->file)
		return after;
	/* The piece of a global function is local. */
	key.file = NO_FILE;
	key.order = UINT32_MAX;
	at = upper_bound(index, &key);
	global = at ? namesake(index, at - 1, cold, len) : NULL;
	if (global && global->file == NO_FILE)
		return global;
	return nearest(index, at, cold, len);
}

int sym_entry__link_pieces(const struct sym_entry *entries, size_t cnt, struct symbol *symbols)
{
	struct index index = {0};
	size_t i;

	for (i = 0; i < cnt; i++) {
		const struct sym_entry *whole;

		if (!is_piece(entries, i))
			continue;
		if (!index.keys && build_index(&index, entries, cnt))
			return -ENOMEM;
		whole = find_whole(&index, &entries[i]);
		if (whole)
			symbols[entries[i].symbol].piece_of = whole->symbol;
		else
			symbols[entries[i].symbol].kind = SYMBOL_NOTYPE;
	}
	free(index.keys);
	return 0;
}
