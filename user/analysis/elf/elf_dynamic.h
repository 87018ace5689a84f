/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dynamic segment: what the loader itself goes by, there even without section headers. */
#ifndef PROFTRACE_ELF_ELF_DYNAMIC_H
#define PROFTRACE_ELF_ELF_DYNAMIC_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

struct elf_dynamic {
	Elf64_Dyn *entries; /* up to DT_NULL */
	size_t cnt;
};

/* Returns 0, -ENOENT without a dynamic segment, -ENOEXEC, -EIO, -ENOMEM; logs nothing. `dyn` is
 * empty after an error; freeing it is right in any case. */
int elf_dynamic__load(const struct elf_image *img, struct elf_dynamic *dyn);
void elf_dynamic__free(struct elf_dynamic *dyn);

/* The first entry with this tag. */
bool elf_dynamic__get(const struct elf_dynamic *dyn, int64_t tag, uint64_t *val);

/* The string at `off` of DT_STRTAB (a DT_SONAME, a DT_NEEDED), cut to `size`; "" if it cannot be
 * read. Returns buf. */
char *elf_dynamic__string(const struct elf_dynamic *dyn, const struct elf_image *img, uint64_t off,
			  char *buf, size_t size);

/* How many entries DT_SYMTAB has, counted by its hash table; 0 if that is missing or damaged. */
uint64_t elf_dynamic__symbols_cnt(const struct elf_dynamic *dyn, const struct elf_image *img);

#endif
