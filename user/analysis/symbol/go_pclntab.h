/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The function table that every Go program carries for its own tracebacks (.gopclntab), stripped or
 * not. Only what the linker laid out as a function is in it: nothing that was inlined everywhere.
 */
#ifndef PROFTRACE_SYMBOL_GO_PCLNTAB_H
#define PROFTRACE_SYMBOL_GO_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct go_pclntab;

struct go_func {
	uint64_t vaddr;
	uint64_t size; /* up to the next function, padding included */
	const char *name;
	size_t len; /* of the name */
};

/* Returns 0; -ENOENT if there is none, its layout is unknown, or (with a warning) it is damaged;
 * -EIO, -ENOMEM with an error logged. */
int go_pclntab__open(const struct elf_image *img, struct go_pclntab **out);
void go_pclntab__free(struct go_pclntab *tab); /* accepts NULL */

/* The addresses from the first function to the end of the last. */
void go_pclntab__range(const struct go_pclntab *tab, uint64_t *start, uint64_t *end);

/* The next function that makes sense; false: that was all. */
bool go_pclntab__next(struct go_pclntab *tab, struct go_func *func);

/* The block that all names point into; the caller frees it, after the table is freed. */
char *go_pclntab__take_names(struct go_pclntab *tab);

#endif
