/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The function table that every Go program carries for its own tracebacks (.gopclntab), stripped or
 * not. Only what the linker laid out as a function is in it: nothing that was inlined everywhere.
 */
#ifndef PROFTRACE_UNWIND_GO_PCLNTAB_H
#define PROFTRACE_UNWIND_GO_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct go_pclntab;

#define GO_FUNC_OUTERMOST 1u /* the outermost function of a thread, or of a goroutine */
#define GO_FUNC_SETS_SP	  2u /* its stack pointer is not told by the table */

struct go_func {
	uint64_t vaddr;
	uint64_t size; /* up to the next function, padding included */
	const char *name;
	size_t len;	 /* of the name */
	uint8_t flags;	 /* GO_FUNC_*; see go_pclntab__has_flags() */
	uint64_t depths; /* where they begin, see go_depths; 0: not told */
};

/* Whether the Go toolchain has linked the file. */
bool go_made(const struct elf_image *img);

/* Like go_pclntab__open(), and -ENOEXEC if the table is damaged; logs nothing. */
int go_pclntab__try(const struct elf_image *img, struct go_pclntab **out);

/* Returns 0; -ENOENT if there is none, its layout is unknown, or (with a warning) it is damaged;
 * -EIO, -ENOMEM with an error logged. */
int go_pclntab__open(const struct elf_image *img, struct go_pclntab **out);
void go_pclntab__free(struct go_pclntab *tab); /* accepts NULL */

/* The addresses from the first function to the end of the last. */
void go_pclntab__range(const struct go_pclntab *tab, uint64_t *start, uint64_t *end);

/* The next function that makes sense; false: that was all. */
bool go_pclntab__next(struct go_pclntab *tab, struct go_func *func);

/* Whether the table says which functions are special: since Go 1.17. */
bool go_pclntab__has_flags(const struct go_pclntab *tab);

/*
 * How far the stack pointer is below the return address, along a function's code. All 0 but for
 * `func` at first; a damaged table ends it. Example: 0 bytes up to main.main+10, then 64.
 */
struct go_depths {
	const struct go_func *func;
	uint64_t at;	     /* in the table; 0: at its begin */
	uint64_t start, end; /* vaddrs of the stretch */
	int64_t depth;	     /* bytes */
};

/* Goes on to the next stretch; false: that was all. */
bool go_depths__next(const struct go_pclntab *tab, struct go_depths *d);

/* The block that all names point into; the caller frees it, after the table is freed. */
char *go_pclntab__take_names(struct go_pclntab *tab);

#endif
