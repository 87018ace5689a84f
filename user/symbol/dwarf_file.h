/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file's debug information, its own or that of its separate debug file. Inside symbol/ only. */
#ifndef PROFTRACE_SYMBOL_DWARF_FILE_H
#define PROFTRACE_SYMBOL_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_image;

struct dwarf_file {
	struct elf_image *debug; /* the separate file; NULL: the image's own sections are read */
	Dwarf *dwarf;
	bool is_roots; /* nobody but root can have written what is read, nor chosen it */
};

/* Reads the image's own sections, else those of its separate debug file (`root` as in
 * debug_file__open()). Returns 0; -ENOENT if there are none; -ENOTSUP if they are larger than a
 * program's are, or lie in a third file. Logs nothing. `img` must outlive it; whatever is returned,
 * dwarf_file__close() takes it. */
int dwarf_file__open(struct dwarf_file *f, const struct elf_image *img, const char *root);
void dwarf_file__close(struct dwarf_file *f); /* accepts one that is all 0 */

/* Bytes of a section once it is unpacked; 0: it has none. `img` as it was opened with. */
uint64_t dwarf_file__size(const struct dwarf_file *f, const struct elf_image *img,
			  const char *section);

#endif
