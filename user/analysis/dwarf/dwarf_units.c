// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/dwarf_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

#define MAX_UNITS   (1u << 20)
#define MAX_OF_DIE  4096       /* ranges of one function */
#define MAX_DIES    (1u << 25) /* looked at */
#define MAX_NESTING 64	       /* of scopes and inlined calls, of namespaces and classes */

static int add_unit(struct dwarf_units *u, Dwarf_Die *die)
{
	if (ARRAY_RESERVE(&u->items, u->cnt, &u->cap))
		return -ENOMEM;
	u->items[u->cnt++] = (struct dwarf_unit){.die = dwarf_dieoffset(die)};
	u->split |= dwarf_hasattr(die, DW_AT_dwo_name) || dwarf_hasattr(die, DW_AT_GNU_dwo_name);
	/* One for each inline function that the linker may have thrown away. */
	return die_ranges__add(&u->ranges, die, u->cnt - 1, DIE_RANGES_MAX);
}

static int load(struct dwarf_units *u)
{
	Dwarf_Off at = 0;
	Dwarf_Die die;
	int err = 0;

	dwarf_budget__enter(&u->file.budget);
	while (!err && u->cnt < MAX_UNITS && dwarf_file__unit(&u->file, &at, &die))
		err = add_unit(u, &die);
	dwarf_budget__leave(&u->file.budget);
	die_ranges__sort(&u->ranges);
	return !err && !u->ranges.cnt ? -ENOENT : err;
}

int dwarf_units__open(struct dwarf_units *u, const struct elf_image *img, const char *root)
{
	int err;

	*u = (struct dwarf_units){0};
	err = dwarf_file__open(&u->file, img, root);
	return err ? err : load(u);
}

void dwarf_units__close(struct dwarf_units *u)
{
	dwarf_file__close(&u->file);
	for (size_t i = 0; i < u->cnt; i++)
		free(u->items[i].functions.items);
	free(u->items);
	free(u->ranges.items);
}

bool dwarf_units__holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_module:
	case DW_TAG_subprogram: /* nested ones; but for those, lambdas are elsewhere */
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static int walk(struct dwarf_units *u, Dwarf_Die *parent, struct dwarf_scope scope, int depth,
		dwarf_visitor visit, void *ctx)
{
	Dwarf_Die die;
	int err = 0;

	if (depth == MAX_NESTING || dwarf_child(parent, &die))
		return 0;
	do {
		struct dwarf_scope inside = scope;

		inside.enter = false;
		if (++u->dies > MAX_DIES)
			return 0;
		err = visit(ctx, &die, dwarf_tag(&die), &inside);
		if (!err && inside.enter)
			err = walk(u, &die, inside, depth + 1, visit, ctx);
	} while (!err && dwarf_file__sibling(&u->file, &die));
	return err;
}

int dwarf_units__walk(struct dwarf_units *u, Dwarf_Die *parent, dwarf_visitor visit, void *ctx)
{
	return walk(u, parent, (struct dwarf_scope){0}, 0, visit, ctx);
}

/* The functions of a unit. */
struct gathering {
	struct die_ranges *functions;
	uint32_t unit;
};

static int gather_function(void *ctx, Dwarf_Die *die, int tag, struct dwarf_scope *inside)
{
	struct gathering *g = ctx;

	inside->enter = dwarf_units__holds_functions(tag);
	if (tag != DW_TAG_subprogram)
		return 0;
	return die_ranges__add(g->functions, die, g->unit, MAX_OF_DIE);
}

static int load_functions(struct dwarf_units *u, uint32_t number)
{
	struct dwarf_unit *unit = &u->items[number];
	struct gathering g = {&unit->functions, number};
	Dwarf_Die die;
	int err = 0;

	if (unit->functions_read)
		return 0;
	unit->functions_read = true;
	dwarf_budget__enter(&u->file.budget);
	if (dwarf_offdie(u->file.dwarf, unit->die, &die))
		err = dwarf_units__walk(u, &die, gather_function, &g);
	dwarf_budget__leave(&u->file.budget);
	die_ranges__sort(&unit->functions);
	return err;
}

int dwarf_units__function_at(struct dwarf_units *u, uint64_t vaddr, const struct die_range **out)
{
	const struct die_range *unit = die_ranges__at(&u->ranges, vaddr);
	int err = unit ? load_functions(u, unit->unit) : 0;

	*out = unit && !err ? die_ranges__at(&u->items[unit->unit].functions, vaddr) : NULL;
	return err;
}
