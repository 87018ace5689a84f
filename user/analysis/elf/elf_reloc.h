/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pointers that the dynamic linker fills in: in the file of a position-independent program they are
 * zero, and their values stand in its relocations. */
#ifndef PROFTRACE_ELF_ELF_RELOC_H
#define PROFTRACE_ELF_ELF_RELOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

/* Fills in the pointers within `bytes`, a copy of the `len` bytes at `vaddr`, as for a program that
 * is loaded at address 0. What is damaged is left out. */
void elf_reloc__apply(const struct elf_image *img, uint64_t vaddr, void *bytes, size_t len);

/* Whether all of the file's pointers stand in its relocations, so that a word of its data that has
 * none is no pointer. It is not so for a program that is loaded at one address alone, and where
 * packed relocations (SHT_RELR) leave the values in the data. */
bool elf_reloc__has_all(const struct elf_image *img);

#endif
