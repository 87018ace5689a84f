/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ranges of code that an entry of debug information (a DIE) describes. Inside dwarf/ only. */
#ifndef PROFTRACE_DWARF_DIE_RANGES_H
#define PROFTRACE_DWARF_DIE_RANGES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#define DIE_RANGES_MAX (1u << 22)

struct die_range {
	uint64_t begin, end;
	Dwarf_Off die;
	uint32_t unit; /* as it was said */
};

struct die_ranges {
	struct die_range *items; /* by begin */
	size_t cnt, cap;
};

/* Adds all ranges of the code that `die` describes, at most `limit`, and no more than
 * DIE_RANGES_MAX in all. Returns 0 or -ENOMEM. */
int die_ranges__add(struct die_ranges *r, Dwarf_Die *die, uint32_t unit, uint32_t limit);

/* Adds one; beyond DIE_RANGES_MAX it is left out. Returns 0 or -ENOMEM. */
int die_ranges__insert(struct die_ranges *r, struct die_range range);

void die_ranges__sort(struct die_ranges *r);

/* The range that holds `vaddr`; NULL: none. Where they overlap, one of the file's own making is as
 * good as the other. They have to be sorted. */
const struct die_range *die_ranges__at(const struct die_ranges *r, uint64_t vaddr);

#endif
