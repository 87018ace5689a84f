/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a file's variables, by the names that debug information (DWARF) gives them. */
#ifndef PROFTRACE_DWARF_VARIABLES_H
#define PROFTRACE_DWARF_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct variables;

#define VARIABLE_PATH 128 /* room for a path to a member */
#define VARIABLE_WORD 24  /* room for a member's name */

/* Opens what describes the image's variables; `root` as in symtab__load(). Variables are looked for
 * when the first one is asked for. Returns 0, or -ENOENT (no debug information), -ENOTSUP (it is
 * kept in a way that is not read), -ENOMEM, not logged. The image must outlive it. */
int variables__open(const struct elf_image *img, const char *root, struct variables **out);
void variables__free(struct variables *v); /* accepts NULL */

/*
 * The path from the variable at `vaddr` to what lies `offset` bytes in it: ".lock", "[3].lock"; ""
 * if it is in no member, as of a plain mutex. Names that C and C++ reserve for the library are left
 * out: of a std::mutex "queue" the path to "_M_mutex.__data.__lock" is "". word[] = the innermost
 * member's own name, the library's as well, cut to its room: "__lock"; "": there is none. Returns
 * whether all that is known; not of languages other than C and C++. Looking for variables takes 0.3
 * s of CPU time at most, for each file; what was not found by then is not known.
 */
bool variables__member(struct variables *v, uint64_t vaddr, uint64_t offset,
		       char path[VARIABLE_PATH], char word[VARIABLE_WORD]);

#endif
