/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file's debug information, its own or that of its separate debug file. Inside dwarf/ only. */
#ifndef PROFTRACE_DWARF_DWARF_FILE_H
#define PROFTRACE_DWARF_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "dwarf/dwarf_budget.h"
#include "dwarf/line_files.h"

struct elf_image;

struct dwarf_file {
	struct elf_image *debug; /* the separate file; NULL: the image's own sections are read */
	Dwarf *dwarf;
	bool is_roots; /* nobody but root can have written what is read, nor chosen it */
	struct line_sections sections;
	struct dwarf_budget budget; /* entered by whoever reads */
	uint64_t lines_left;	    /* bytes of line tables that libdw may still read */
	void *tables; /* those that it may read: a tree of their offsets, see tsearch(3) */
};

/* Reads the image's own sections, else those of its separate debug file (`root` as in
 * debug_file__open()). Returns 0; -ENOENT if there are none; -ENOTSUP if they are larger than a
 * program's are, or lie in a third file. Logs nothing. `img` must outlive it; whatever is returned,
 * dwarf_file__close() takes it. */
int dwarf_file__open(struct dwarf_file *f, const struct elf_image *img, const char *root);
/* Bytes of debug information that dwarf_file__open() would read: of sections as they are, and of
 * those that have to be unpacked. Both 0: there are none, or too many. */
struct dwarf_sizes {
	uint64_t plain, packed; /* the latter as they are when unpacked */
};
struct dwarf_sizes dwarf_file__sizes(const struct elf_image *img, const char *root);
void dwarf_file__close(struct dwarf_file *f); /* accepts one that is all 0 */

/* References that are followed: in a damaged file they may go in circles. */
#define DWARF_CHAIN 32

/* An attribute of what `die` is an instance or the definition of, if it has none itself. */
bool dwarf_file__attribute(const Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out);

/* Goes on to the next sibling. False: there is none, or the budget is used up. */
bool dwarf_file__sibling(struct dwarf_file *f, Dwarf_Die *die);

/* Goes on to the next unit: 0 in *at is before the first one. False as above. */
bool dwarf_file__unit(struct dwarf_file *f, Dwarf_Off *at, Dwarf_Die *unit);

/* Whether libdw may read the unit's line table, which it does as a whole, for its files' names too,
 * and keeps. */
bool dwarf_file__may_read_lines(struct dwarf_file *f, Dwarf_Die *unit);

#endif
