// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the inlined functions that hold an address: walks the entries of its function, but only
 * into those that hold the address. */
#include <dwarf.h>

#include "dwarf/line_table.h"
#include "dwarf/line_table_inside.h"

#define MAX_OF_DIE 4096 /* ranges of one scope */

/* CPU time for a byte that has to be unpacked, and for one that is read alone. */
#define UNPACK_NS 5
#define READ_NS	  1

struct looking {
	struct line_table *t;
	uint64_t vaddr;
	struct line_inlined *out;
	size_t cnt;	  /* found */
	size_t depth;	  /* inlined calls around what was found, or passed, last */
	Dwarf_Off around; /* the function that is the innermost so far, as it was declared */
};

static bool holds(Dwarf_Die *die, uint64_t vaddr)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < MAX_OF_DIE; i++) {
		at = dwarf_ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			return false;
		if (begin <= vaddr && vaddr < end)
			return true;
	}
	return false;
}

/* The entry of a function itself, of which this one is a copy, or an inlined call. */
static Dwarf_Off origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, &origin))
		origin = *die;
	return dwarf_dieoffset(&origin);
}

/* A function that the compiler has split, and put together again, is inlined into itself (glibc's
 * read()): that is no function more. */
static void note(struct looking *l, Dwarf_Die *die)
{
	const char *name = line_table__name_of(die);
	struct line_row place = {0};
	Dwarf_Off origin = origin_of(die);

	if (!*name || origin == l->around)
		return;
	l->around = origin;
	line_table__find_declared(l->t, die, &place);
	l->out[l->cnt++] = (struct line_inlined){name, place.file, place.line};
}

/* Scopes are in each other, so the first one that holds the address at its level is the one: its
 * siblings, which a damaged file may have there too, are passed. */
static int look_at_die(void *ctx, Dwarf_Die *die, int tag, struct dwarf_scope *inside)
{
	struct looking *l = ctx;
	bool call = tag == DW_TAG_inlined_subroutine;

	if (!call && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
	    tag != DW_TAG_catch_block)
		return 0;
	if (inside->inlined != l->depth || l->cnt == LINE_INLINED_MAX || !holds(die, l->vaddr))
		return 0;
	inside->enter = true;
	if (call) {
		note(l, die);
		inside->inlined = ++l->depth;
	}
	return 0;
}

int line_table__inlined_at(struct line_table *t, uint64_t vaddr,
			   struct line_inlined out[LINE_INLINED_MAX], size_t *cnt)
{
	struct looking l = {.t = t, .vaddr = vaddr, .out = out};
	const struct die_range *function;
	Dwarf_Die die;
	int err = dwarf_units__function_at(&t->units, vaddr, &function);

	*cnt = 0;
	if (err || !function)
		return err;
	dwarf_budget__enter(&t->units.file.budget);
	if (dwarf_offdie(t->units.file.dwarf, function->die, &die)) {
		l.around = origin_of(&die);
		err = dwarf_units__walk(&t->units, &die, look_at_die, &l);
	}
	dwarf_budget__leave(&t->units.file.budget);
	*cnt = l.cnt;
	return err;
}

uint64_t line_table__open_ns(const struct elf_image *img, const char *root)
{
	const struct dwarf_sizes sizes = dwarf_file__sizes(img, root);

	return sizes.plain * READ_NS + sizes.packed * UNPACK_NS;
}
