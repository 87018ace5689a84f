/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One raw symbol table with its strings, walked from the first symbol to the last. */
#ifndef PROFTRACE_ELF_SYM_TABLE_H
#define PROFTRACE_ELF_SYM_TABLE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

struct sym_table {
	const struct elf_image *img;
	char *strings; /* the owner may take it and leave NULL */
	uint64_t strings_len;
	uint64_t off, cnt;    /* of the symbols in the file */
	uint64_t next;	      /* index of the symbol behind the current one */
	uint64_t name_budget; /* bytes of names that may still be looked at */
	bool versioned;	      /* names carry "@VERSION" */
	size_t buf_len, buf_pos;
	Elf64_Sym buf[512];
};

/*
 * `type`: SHT_SYMTAB, or SHT_DYNSYM, which is found by the dynamic segment if there are no section
 * headers. Returns 0; -ENOENT if there is none or (with a warning) it is damaged; -EIO, -ENOMEM
 * with an error logged.
 */
int sym_table__open(const struct elf_image *img, uint32_t type, struct sym_table *tab);
void sym_table__close(struct sym_table *tab);

bool sym_table__next(struct sym_table *tab, Elf64_Sym *sym);

/* The current symbol's name, without its version in a .symtab ("memcpy@@GLIBC_2.14"), or NULL if it
 * has none that is valid. */
const char *sym_table__name(struct sym_table *tab, const Elf64_Sym *sym, size_t *len);

#endif
