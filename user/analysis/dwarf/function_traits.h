/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traits of a whole function by debug information, which its lines depend on: optimized, made up.
 */
#ifndef PROFTRACE_DWARF_FUNCTION_TRAITS_H
#define PROFTRACE_DWARF_FUNCTION_TRAITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct dwarf_file;

struct function_traits {
	bool optimized;	  /* its code need not do what its source says line by line */
	bool made_up;	  /* by the compiler: nobody has written it */
	const char *file; /* where it is declared; NULL: unknown; see line_table.h */
	uint32_t line;
};

/* The traits of a function, a DW_TAG_subprogram of that unit; `file` is the number that stands
 * there. Damaged attributes count as missing. */
struct function_traits function_traits__of(struct dwarf_file *f, const Dwarf_Die *function,
					   Dwarf_Die *unit);

#endif
