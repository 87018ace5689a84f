/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of entries of debug information: their own, or those of the entries that they are
 * instances of. Inside dwarf/ only. */
#ifndef PROFTRACE_DWARF_DIE_ATTRIBUTES_H
#define PROFTRACE_DWARF_DIE_ATTRIBUTES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL: it has none. The file's. */
const char *die_name(const Dwarf_Die *die);

/* A number that an attribute gives; `fallback`: it has none that is a number. */
uint64_t die_number(const Dwarf_Die *die, unsigned int name, uint64_t fallback);

/* Whether it has that flag. */
bool die_flag(const Dwarf_Die *die, unsigned int name);

/* The type of a thing, behind its names and qualifiers. Returns false if there is none (void), or
 * none that can be read. */
bool die_type(const Dwarf_Die *die, Dwarf_Die *type);

/* Whether its unit is written in C or C++. */
bool die_is_c(const Dwarf_Die *die);

#endif
