/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of line tables: line_table.c reads their rows, line_table_functions.c
 * functions, and the calls that were inlined into them, inlined_at.c which of these hold an
 * address. */
#ifndef PROFTRACE_DWARF_LINE_TABLE_INSIDE_H
#define PROFTRACE_DWARF_LINE_TABLE_INSIDE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/dwarf_units.h"
#include "dwarf/line_files.h"
#include "dwarf/source_paths.h"

struct line_row;

struct line_table {
	struct dwarf_units units;
	struct source_paths paths;
	/* The names of files that were looked at last, see line_table__place(). */
	struct line_files files;
	Dwarf_Word files_at; /* the table that they are of */
	bool files_read;
	int files_err;
	uint32_t names_left; /* of files, that may still be read */
};

/* The name of a function that the linker knows, else the plain one; "" if it has none. */
const char *line_table__name_of(const Dwarf_Die *die);

/* Sets file and line of *place to where the function is declared; file NULL: unknown. */
void line_table__find_declared(struct line_table *t, const Dwarf_Die *die, struct line_row *place);

/* Whether libdw may read a unit's line table, its files' names included; *die = the unit. */
bool line_table__may_read(struct line_table *t, uint32_t unit, Dwarf_Die *die);

#endif
