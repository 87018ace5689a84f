/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a function, with all its cold pieces. */
#ifndef PROFTRACE_CODE_PIECES_H
#define PROFTRACE_CODE_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "code/code.h"

struct elf_pages;
struct symtab;

#define MAX_FUNCTION_SIZE (16u << 20) /* larger "functions" are a damaged file's */

/* An object's cold pieces: symbol indexes, ordered by what they belong to. */
struct cold_pieces {
	uint32_t *items;
	size_t cnt;
};

int cold_pieces__init(struct cold_pieces *c, struct symtab *tab); /* 0 or -ENOMEM */
void cold_pieces__clear(struct cold_pieces *c);

/* Buffers, kept from one function to the next. All 0 at first. */
struct piece_bytes {
	uint8_t *at[CODE_MAX_PIECES];
	size_t cap[CODE_MAX_PIECES];
};

void piece_bytes__clear(struct piece_bytes *b);

/* The tables that tell which code a function has; all borrowed. */
struct piece_source {
	struct elf_pages *pages;
	const struct symtab *tab;
	const struct cold_pieces *cold;
};

/* Reads function `index` of the source's symbols, at most CODE_MAX_PIECES pieces. Returns
 * 0, -ENOMEM, or -ENODATA: it has no code in the file. */
int pieces__read(const struct piece_source *from, uint32_t index, struct piece_bytes *bytes,
		 struct code_piece *pieces, size_t *cnt);

#endif
