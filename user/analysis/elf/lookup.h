/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a few symbols by name, without loading all of an object's functions. */
#ifndef PROFTRACE_ELF_LOOKUP_H
#define PROFTRACE_ELF_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

/*
 * Looks for symbols that the object itself defines, in its .dynsym and .symtab. vaddrs[i] becomes
 * the address of names[i], or 0 if there is none. Returns how many were found; what cannot be read
 * counts as not there.
 */
size_t symbol_lookup(const struct elf_image *img, const char *const *names, size_t cnt,
		     uint64_t *vaddrs);

/* Whether the object has the symbol, in its .dynsym or .symtab, be it defined there or not. */
bool symbol_is_used(const struct elf_image *img, const char *name);

/* A variable. */
struct data_symbol {
	char name[80]; /* cut to that */
	uint64_t vaddr, size;
};

/* Finds the smallest variable, with a name, that lies at `vaddr`, in the object's .symtab and
 * .dynsym. Returns whether there is one. */
bool symbol_lookup_data(const struct elf_image *img, uint64_t vaddr, struct data_symbol *out);

#endif
