/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The units of a file's debug information, and the functions in them, by address. A unit's
 * functions are found when the first address in it is asked for. Inside dwarf/ only.
 */
#ifndef PROFTRACE_DWARF_DWARF_UNITS_H
#define PROFTRACE_DWARF_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/die_ranges.h"
#include "dwarf/dwarf_file.h"

struct elf_image;

struct dwarf_unit {
	Dwarf_Off die;
	struct die_ranges functions;
	bool functions_read;
};

struct dwarf_units {
	struct dwarf_file file;
	struct dwarf_unit *items;
	size_t cnt, cap;
	struct die_ranges ranges; /* of all */
	uint32_t dies;		  /* looked at so far */
	bool split;		  /* some are left out, in files of their own */
};

/* Returns what dwarf_file__open() does; -ENOENT also if the units describe no code; or -ENOMEM. */
int dwarf_units__open(struct dwarf_units *u, const struct elf_image *img, const char *root);
void dwarf_units__close(struct dwarf_units *u); /* accepts one that is all 0 */

/* The function that has code at `vaddr`; *out NULL: none is described. Returns 0 or -ENOMEM. */
int dwarf_units__function_at(struct dwarf_units *u, uint64_t vaddr, const struct die_range **out);

/* State of a walk over DIEs, as it is handed down to children. */
struct dwarf_scope {
	bool enter;	      /* whether that is visited at all */
	uint32_t inlined;     /* the innermost inlined call: its number, 0: none */
	const char *function; /* NULL: none */
};

/* Looks at a DIE; *inside begins as what was said of that around it, without `enter`. */
typedef int (*dwarf_visitor)(void *ctx, Dwarf_Die *die, int tag, struct dwarf_scope *inside);

/* Visits what is in `parent`. Bounded; ends when a visitor returns other than 0, with that. */
int dwarf_units__walk(struct dwarf_units *u, Dwarf_Die *parent, dwarf_visitor visit, void *ctx);

/* Whether a DIE of that tag may hold functions. */
bool dwarf_units__holds_functions(int tag);

#endif
