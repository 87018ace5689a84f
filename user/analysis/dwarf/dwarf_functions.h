/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that a file's debug information describes, by address. Inside dwarf/ only. */
#ifndef PROFTRACE_DWARF_DWARF_FUNCTIONS_H
#define PROFTRACE_DWARF_DWARF_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct dwarf_file;
struct dwarf_functions;
struct elf_image;

/* Reads the image's own sections, else those of its separate debug file (`root` as in
 * debug_file__open()). Returns 0; -ENOENT if there are none; -ENOTSUP if they are larger than a
 * program's are, or lie in a third file; -ENOMEM. Logs nothing. `img` must outlive it. */
int dwarf_functions__open(const struct elf_image *img, const char *root,
			  struct dwarf_functions **out);
void dwarf_functions__free(struct dwarf_functions *f); /* accepts NULL */

/* Where they are read from. */
struct dwarf_file *dwarf_functions__file(struct dwarf_functions *f);

/* The function that begins at `vaddr`. */
bool dwarf_functions__at(const struct dwarf_functions *f, uint64_t vaddr, Dwarf_Die *die);

#define DWARF_CHAIN                                                                  \
	32 /* references that are followed: in a damaged file they may go in circles \
	    */

/* An attribute of what `die` is an instance or the definition of, if it has none itself. */
bool dwarf_functions__attribute(const Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out);

#endif
