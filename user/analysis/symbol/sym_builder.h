/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers every name that an ELF file's tables have of its code, and what has none, as entries for
 * symtab.c to merge. Inside symbol/ only.
 */
#ifndef PROFTRACE_SYMBOL_SYM_BUILDER_H
#define PROFTRACE_SYMBOL_SYM_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol.h"

struct eh_function;
struct elf_image;
struct elf_segment;
struct go_pclntab;
struct sym_entry;

#define MAX_SOURCES 4

struct symtab {
	struct symbol *symbols;
	size_t cnt;
	const char **aliases; /* of all symbols */
	char *strings[MAX_SOURCES];
	size_t strings_cnt;
	char *source;
	size_t unreadable; /* symbols of code whose names cannot be read */
};

struct sym_builder {
	const struct elf_image *img;
	struct symtab *tab;
	struct sym_entry *entries;
	size_t len, cap;
	const struct elf_segment *segment; /* the last symbol's */
	uint64_t go_start, go_end;	   /* where Go's code lies */
	bool go_known;			   /* exactly */
	struct eh_function *nameless;
	size_t nameless_cnt;
};

/* Opens the function table of a Go program if there is one, and tells Go's code from other by it.
 * Returns 0 or -errno. */
int sym_builder__find_go(struct sym_builder *b, struct go_pclntab **pclntab);

/* Whether the code there is Go's. */
bool sym_builder__is_go(const struct sym_builder *b, uint64_t vaddr);

/* Adds one table of `src`: the image itself or what stands in for its .symtab. Returns 0, -ENOENT
 * if there is none, or -errno with one line logged. */
int sym_builder__add_table(struct sym_builder *b, const struct elf_image *src, uint32_t type,
			   const char *what);

/* Adds the symbols that `strip` took away, from the debug file that distributions put elsewhere. It
 * is no error if there is none. */
int sym_builder__add_stripped(struct sym_builder *b, const char *root);

/* The functions of a Go program that no other table names. */
int sym_builder__add_go(struct sym_builder *b, struct go_pclntab *pclntab);

/* Adds functions without any symbol, by .eh_frame and by calls. Returns 0 or -errno; silent. */
int sym_builder__add_nameless(struct sym_builder *b);

#endif
