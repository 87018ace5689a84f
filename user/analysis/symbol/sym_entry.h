/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One name on its way into the table: sorted by address and preference, then merged. */
#ifndef PROFTRACE_SYMBOL_SYM_ENTRY_H
#define PROFTRACE_SYMBOL_SYM_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;

/* A name that no source file owns: a global one, or one of .dynsym. */
#define NO_FILE UINT32_MAX

struct sym_entry {
	uint64_t vaddr, size;
	const char *name;
	uint32_t len;
	uint32_t order;	 /* index in its .symtab */
	uint32_t file;	 /* ordinal of the STT_FILE that owns a local name, or NO_FILE */
	uint32_t symbol; /* index of the merged symbol */
	uint8_t kind;	 /* enum symbol_kind */
	uint8_t bind;	 /* 0 global, 1 weak, 2 local */
	uint8_t is_cold;
	uint8_t underscores;
	bool nameless;
};

/* Length of NAME if `name` is "NAME.cold", "NAME.cold.N" or "NAME.__part.N", else 0. */
size_t sym_entry__cold_prefix(const char *name, size_t len);

/*
 * Sets piece_of of every symbol that is a cold piece. One whose function is not found becomes
 * SYMBOL_NOTYPE: it is entered by a jump, so it must not pass for a function. Returns 0 or -ENOMEM.
 */
int sym_entry__link_pieces(const struct sym_entry *entries, size_t cnt, struct symbol *symbols);

#endif
