/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in their source functions are, by the debug information (DWARF) of their file. */
#ifndef PROFTRACE_DWARF_SOURCE_H
#define PROFTRACE_DWARF_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct source;

struct source_place {
	uint64_t vaddr;	  /* of a function's first instruction */
	const char *file; /* absolute if the compiler's directory is known; the source's; NULL:
			     unknown */
	uint32_t line;	  /* from 1 on; 0: unknown */
};

/* Opens what describes the image; `root` as in symtab__load(). Returns 0, or -ENOENT (no debug
 * information), -ENOTSUP (it is kept in a way that is not read), -ENOMEM, not logged. The image
 * must outlive it. */
int source__open(const struct elf_image *img, const char *root, struct source **out);
void source__free(struct source *s); /* accepts NULL */

/*
 * Fills in file and line of `places`, which are ordered by address: where a function is declared
 * where its code is, else what the line table has for its entry. Only units that have one of them
 * are read. Work and memory are bounded, whatever the file says: what is beyond stays unknown.
 * Returns 0 or -ENOMEM.
 */
int source__find(struct source *s, struct source_place *places, size_t cnt);

#endif
