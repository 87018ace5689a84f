/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of files in the header of a line table (DWARF 2 to 5). libdw gives them with all lines,
 * which takes ten times as long as finding out who is asked for. Inside dwarf/ only.
 */
#ifndef PROFTRACE_DWARF_LINE_FILES_H
#define PROFTRACE_DWARF_LINE_FILES_H

#include <stddef.h>
#include <stdint.h>

struct line_section {
	const uint8_t *bytes; /* NULL: there is none */
	size_t size;
};

/* Unpacked; borrowed. */
struct line_sections {
	struct line_section info;     /* .debug_info */
	struct line_section lines;    /* .debug_line */
	struct line_section strings;  /* .debug_str */
	struct line_section line_str; /* .debug_line_str */
};

struct line_file {
	const char *name; /* in the sections; never NULL */
	const char *dir;  /* as written; NULL: the unit's, DW_AT_comp_dir */
};

struct line_files {
	struct line_file *items; /* by the number that is used in the unit */
	size_t cnt, cap;
	const char **dirs;
	size_t dirs_cnt, dirs_cap;
};

/* Reads the header at `offset` of .debug_line into `f`, which may hold an earlier one's. At most
 * *left names, which are taken off it. Returns 0, -ENOEXEC (damaged, or too many) or -ENOMEM. */
int line_files__read(struct line_files *f, const struct line_sections *sections, uint64_t offset,
		     uint32_t *left);
void line_files__clear(struct line_files *f);

#endif
