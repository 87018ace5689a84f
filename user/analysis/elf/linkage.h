/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dynamic linker's view of one object: its imports and exports. Example: redis-server imports
 * `malloc` through the pointer at a vaddr of its .got. */
#ifndef PROFTRACE_ELF_LINKAGE_H
#define PROFTRACE_ELF_LINKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct linkage;

/* A function that other objects can call by name. */
struct linkage_definition {
	const char *name;
	uint64_t vaddr; /* 0: chosen when it is bound (IFUNC) */
};

/* Reads .dynsym, relocations and the names of needed libraries; what is missing or damaged counts
 * as empty. Returns 0 or -ENOMEM. */
int linkage__load(const struct elf_image *img, struct linkage **out);
void linkage__free(struct linkage *l); /* accepts NULL; all strings go with it */

const struct linkage_definition *linkage__definitions(const struct linkage *l, size_t *cnt);
/* DT_NEEDED, in order. */
const char *const *linkage__needed(const struct linkage *l, size_t *cnt);

/*
 * The name of the function whose address the dynamic linker puts into the pointer at `vaddr`, and
 * nobody changes later; NULL if it is another pointer, such as a variable.
 */
const char *linkage__import(const struct linkage *l, uint64_t vaddr);
/* The name of the function that a variable at `vaddr` points to at first; NULL: to none. */
const char *linkage__initial(const struct linkage *l, uint64_t vaddr);

/* elf_image__is_program() */
bool linkage__is_program(const struct linkage *l);

#endif
