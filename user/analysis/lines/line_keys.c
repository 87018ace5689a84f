// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines/line_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* Tables have the same file under several numbers. */
static const char *same_file(struct line_keys *k, const char *file)
{
	for (size_t i = k->files_cnt; i-- > 0;) {
		if (k->files[i] == file || !strcmp(k->files[i], file))
			return k->files[i];
	}
	if (ARRAY_RESERVE(&k->files, k->files_cnt, &k->files_cap))
		return NULL;
	return k->files[k->files_cnt++] = file;
}

static size_t hash_of(const struct line_key *key, size_t size)
{
	uint64_t x = (uintptr_t)key->file ^ ((uint64_t)key->line << 32 | key->inlined);

	return (x * 0x9e3779b97f4a7c15ull >> 20) & (size - 1);
}

static bool is_same(const struct line_key *a, const struct line_key *b)
{
	return a->file == b->file && a->line == b->line && a->inlined == b->inlined;
}

static void hash_put(struct line_keys *k, uint32_t number)
{
	size_t at = hash_of(&k->items[number - 1], k->hash_size);

	while (k->hash[at])
		at = (at + 1) & (k->hash_size - 1);
	k->hash[at] = number;
}

static int hash_grow(struct line_keys *k)
{
	size_t size = k->hash_size ? k->hash_size * 2 : 256;
	uint32_t *hash = calloc(size, sizeof(*hash));

	if (!hash)
		return -ENOMEM;
	free(k->hash);
	k->hash = hash;
	k->hash_size = size;
	for (size_t i = 0; i < k->cnt; i++)
		hash_put(k, i + 1);
	return 0;
}

/* The number of such a key. */
static int number_of(struct line_keys *k, const struct line_key *key, uint32_t *number)
{
	if (k->cnt * 2 >= k->hash_size && hash_grow(k))
		return -ENOMEM;
	for (size_t at = hash_of(key, k->hash_size); k->hash[at];
	     at = (at + 1) & (k->hash_size - 1)) {
		*number = k->hash[at];
		if (is_same(&k->items[*number - 1], key))
			return 0;
	}
	if (ARRAY_RESERVE(&k->items, k->cnt, &k->cap))
		return -ENOMEM;
	k->items[k->cnt++] = *key;
	*number = k->cnt;
	hash_put(k, *number);
	return 0;
}

/* All bytes of one row, of which the first is `at` among those of all pieces. */
static int add_row(struct line_keys *k, const struct line_row *row, const uint8_t *reached,
		   size_t at, size_t size)
{
	const uint32_t *inlined = k->inlined + at;
	struct line_key key = {.line = row->line};
	bool any = false;
	uint32_t number;

	if (!row->file)
		return 0;
	key.file = same_file(k, row->file);
	if (!key.file)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		if (!reached[i] || reached[i] == CODE_INSIDE)
			continue;
		key.inlined = inlined[i];
		if (number_of(k, &key, &number))
			return -ENOMEM;
		k->by_byte[at + i] = number;
		k->items[number - 1].reached = any = true;
	}
	key.inlined = inlined[0];
	return any ? 0 : number_of(k, &key, &number);
}

static int add_piece(struct line_keys *k, struct line_table *t, const struct code_piece *piece,
		     const uint8_t *reached, size_t before)
{
	uint64_t end = piece->vaddr + piece->size;
	int err;

	k->table_cnt = 0;
	err = line_table__rows(t, piece->vaddr, end, &k->table, &k->table_cnt, &k->table_cap);
	for (size_t i = 0; !err && i < k->table_cnt; i++) {
		uint64_t next = i + 1 < k->table_cnt ? k->table[i + 1].vaddr : end;
		size_t at = before + (k->table[i].vaddr - piece->vaddr);

		if (next > k->table[i].vaddr && next <= end)
			err = add_row(k, &k->table[i], reached + at, at, next - k->table[i].vaddr);
	}
	return err;
}

static int clear_arrays(struct line_keys *k, size_t size)
{
	if (ARRAY_RESERVE_MORE(&k->by_byte, 0, size, &k->by_byte_cap) ||
	    ARRAY_RESERVE_MORE(&k->inlined, 0, size, &k->inlined_cap))
		return -ENOMEM;
	memset(k->by_byte, 0, size * sizeof(*k->by_byte));
	memset(k->inlined, 0, size * sizeof(*k->inlined));
	if (k->hash)
		memset(k->hash, 0, k->hash_size * sizeof(*k->hash));
	k->cnt = k->inlines.cnt = k->inlines.labels_cnt = k->files_cnt = 0;
	return 0;
}

int line_keys__find(struct line_keys *k, struct line_table *t, const struct code_piece *pieces,
		    size_t pieces_cnt, const uint8_t *reached)
{
	struct line_piece parts[CODE_MAX_PIECES];
	size_t size = 0;
	int err;

	for (size_t i = 0; i < pieces_cnt; i++)
		size += pieces[i].size;
	err = clear_arrays(k, size);
	if (err)
		return err;
	size = 0;
	for (size_t i = 0; i < pieces_cnt; i++) {
		parts[i] = (struct line_piece){pieces[i].vaddr, pieces[i].size, k->inlined + size};
		size += pieces[i].size;
	}
	err = line_table__inlined(t, parts, pieces_cnt, &k->inlines);
	size = 0;
	for (size_t i = 0; !err && i < pieces_cnt; i++) {
		err = add_piece(k, t, &pieces[i], reached, size);
		size += pieces[i].size;
	}
	return err;
}

void line_keys__clear(struct line_keys *k)
{
	free(k->items);
	free(k->by_byte);
	free(k->inlines.items);
	free(k->inlines.labels);
	free(k->inlined);
	free(k->hash);
	free(k->table);
	free(k->files);
	*k = (struct line_keys){0};
}
