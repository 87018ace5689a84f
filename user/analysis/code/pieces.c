// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/pieces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "symbol/symtab.h"
#include "util/search.h"

#define HOLE_SIZE 4096u /* so many zeros in a row are no code, but a hole */

static int piece_order(const void *a, const void *b, void *tab)
{
	uint32_t x = symtab__at(tab, *(const uint32_t *)a)->piece_of;
	uint32_t y = symtab__at(tab, *(const uint32_t *)b)->piece_of;

	return x < y ? -1 : x > y;
}

int cold_pieces__init(struct cold_pieces *c, struct symtab *tab)
{
	size_t symbols = symtab__count(tab);

	*c = (struct cold_pieces){.items = calloc(symbols + 1, sizeof(*c->items))};
	if (!c->items)
		return -ENOMEM;
	for (size_t i = 0; i < symbols; i++) {
		if (symtab__at(tab, i)->piece_of != SYMTAB_NONE)
			c->items[c->cnt++] = i;
	}
	qsort_r(c->items, c->cnt, sizeof(*c->items), piece_order, tab);
	return 0;
}

void cold_pieces__clear(struct cold_pieces *c)
{
	free(c->items);
	*c = (struct cold_pieces){0};
}

void piece_bytes__clear(struct piece_bytes *b)
{
	for (size_t i = 0; i < CODE_MAX_PIECES; i++)
		free(b->at[i]);
	*b = (struct piece_bytes){0};
}

/* Whether the bytes have an aligned block of zeros: a sparse file may claim gigabytes of code. */
static bool has_hole(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t at = 0; at + HOLE_SIZE <= size; at += HOLE_SIZE) {
		if (!bytes[at] && !memcmp(bytes + at, bytes + at + 1, HOLE_SIZE - 1))
			return true;
	}
	return false;
}

/* Reads the symbol's bytes into buffer `n`. */
static int piece_read(struct elf_pages *pages, const struct symbol *sym, struct piece_bytes *bytes,
		      size_t n, struct code_piece *piece)
{
	if (sym->size > bytes->cap[n]) {
		uint8_t *grown = realloc(bytes->at[n], sym->size * 2);

		if (!grown)
			return -ENOMEM;
		bytes->at[n] = grown;
		bytes->cap[n] = sym->size * 2;
	}
	if (!elf_pages__read(pages, sym->offset, bytes->at[n], sym->size) ||
	    has_hole(bytes->at[n], sym->size))
		return -ENODATA;
	*piece = (struct code_piece){.vaddr = sym->vaddr, .bytes = bytes->at[n], .size = sym->size};
	return 0;
}

/* The first cold piece that belongs to symbol `index` or a later one. */
static size_t pieces_from(const struct piece_source *from, uint32_t index)
{
	const struct cold_pieces *cold = from->cold;

	return LOWER_BOUND(cold->cnt, i, symtab__at(from->tab, cold->items[i])->piece_of < index);
}

int pieces__read(const struct piece_source *from, uint32_t index, struct piece_bytes *bytes,
		 struct code_piece *pieces, size_t *cnt)
{
	const struct cold_pieces *cold = from->cold;
	int err = piece_read(from->pages, symtab__at(from->tab, index), bytes, 0, &pieces[0]);

	*cnt = 1;
	for (size_t i = pieces_from(from, index); !err && i < cold->cnt && *cnt < CODE_MAX_PIECES;
	     i++) {
		const struct symbol *sym = symtab__at(from->tab, cold->items[i]);

		if (sym->piece_of != index)
			break;
		if (!sym->size || sym->size > MAX_FUNCTION_SIZE)
			continue;
		err = piece_read(from->pages, sym, bytes, *cnt, &pieces[*cnt]);
		++*cnt;
	}
	return err;
}
