/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the two files of line tables: line_table.c reads their rows, line_table_functions.c
 * functions, and the calls that were inlined into them. */
#ifndef PROFTRACE_DWARF_LINE_TABLE_INSIDE_H
#define PROFTRACE_DWARF_LINE_TABLE_INSIDE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/die_ranges.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/source_paths.h"

struct line_unit {
	Dwarf_Off die;
	struct die_ranges functions;
	bool functions_read;
};

struct line_table {
	struct dwarf_file file;
	struct line_unit *units;
	size_t units_cnt, units_cap;
	struct die_ranges ranges; /* of the units */
	struct source_paths paths;
	uint32_t dies; /* looked at so far */
	bool split;
};

/* Whether libdw may read a unit's line table, its files' names included; *die = the unit. */
bool line_table__may_read(struct line_table *t, uint32_t unit, Dwarf_Die *die);

#endif
