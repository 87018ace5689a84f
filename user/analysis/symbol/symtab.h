/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of one ELF file: .symtab and .dynsym, its separate debug file (build id,
 * .gnu_debuglink), mini debug info (.gnu_debugdata), and Go's function table (.gopclntab), merged
 * by address. Where none of them but .dynsym names anything, functions are found by .eh_frame and
 * by calls, and called func_0xVADDR.
 */
#ifndef PROFTRACE_SYMBOL_SYMTAB_H
#define PROFTRACE_SYMBOL_SYMTAB_H

#include <stddef.h>

#include "symbol/symbol.h"

struct elf_image;
struct symtab;

/*
 * Loads every symbol in an executable PT_LOAD, ordered by vaddr, sizes clipped to the segment.
 * `root` is prefixed to the directories where debug files are looked for ("" for this machine's
 * own, "/proc/PID/root" for a container's, which is tried before this machine's); a debug file
 * counts only if its build id (or the debuglink CRC) matches.
 * Returns 0 (a file without any symbols is a valid, empty table), or -errno with one line logged.
 */
int symtab__load(const struct elf_image *img, const char *root, struct symtab **out);

/* Loads the symbols of the file's own .symtab and .dynsym alone: for a look at names, which reads
 * no other file and no code. Returns 0, or -errno, silently. */
int symtab__load_named(const struct elf_image *img, struct symtab **out);
void symtab__free(struct symtab *tab); /* accepts NULL; all strings go with it */

size_t symtab__count(const struct symtab *tab);
/* How many symbols of code are left out, as their names are longer than 64 KB, or lie outside of
 * the file's strings. */
size_t symtab__unreadable(const struct symtab *tab);
const struct symbol *symtab__at(const struct symtab *tab, size_t index);
/* The tables and files that the functions are known by, for messages, joined by " + ": ".dynsym +
 * .eh_frame", "/usr/lib/debug/..."; "" if there are none. */
const char *symtab__source(const struct symtab *tab);

#endif
