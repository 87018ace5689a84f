/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a few symbols by name, without loading all of an object's functions. */
#ifndef PROFTRACE_ELF_LOOKUP_H
#define PROFTRACE_ELF_LOOKUP_H

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

#endif
