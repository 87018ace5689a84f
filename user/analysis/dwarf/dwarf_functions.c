// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/dwarf_functions.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "dwarf/dwarf_file.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_DIES   (1u << 25)
#define MAX_DEPTH  16 /* of namespaces and classes */
#define MAX_RANGES 16 /* of a function */

struct dwarf_function {
	uint64_t vaddr;
	Dwarf_Off die;
};

struct dwarf_functions {
	struct dwarf_file file;
	struct dwarf_function *items; /* by address, then by place */
	size_t cnt, cap;
	uint32_t dies; /* looked at */
};

bool dwarf_functions__attribute(const Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < DWARF_CHAIN; i++) {
		Dwarf_Attribute ref;

		if (dwarf_attr(&at, name, out))
			return true;
		if ((!dwarf_attr(&at, DW_AT_abstract_origin, &ref) &&
		     !dwarf_attr(&at, DW_AT_specification, &ref)) ||
		    !dwarf_formref_die(&ref, &at))
			return false;
	}
	return false;
}

static int add(struct dwarf_functions *f, Dwarf_Die *die, uint64_t vaddr)
{
	if (ARRAY_RESERVE(&f->items, f->cnt, &f->cap))
		return -ENOMEM;
	f->items[f->cnt++] = (struct dwarf_function){vaddr, dwarf_dieoffset(die)};
	return 0;
}

/* A function with cold pieces has ranges; any of them may begin with its entry. */
static int add_function(struct dwarf_functions *f, Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int err = 0;

	if (!dwarf_lowpc(die, &begin))
		return add(f, die, begin);
	for (int i = 0; i < MAX_RANGES && !err; i++) {
		at = dwarf_ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			break;
		err = add(f, die, begin);
	}
	return err;
}

static int walk(struct dwarf_functions *f, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int err = 0;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die))
		return 0;
	do {
		if (++f->dies > MAX_DIES)
			return 0;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			err = add_function(f, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_module:
			err = walk(f, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (!err && dwarf_file__sibling(&f->file, &die));
	return err;
}

static int function_order(const void *a, const void *b)
{
	const struct dwarf_function *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

static int load(struct dwarf_functions *f)
{
	Dwarf_Off at = 0;
	Dwarf_Die unit;
	int err = 0;

	dwarf_budget__enter(&f->file.budget);
	while (!err && f->dies <= MAX_DIES && dwarf_file__unit(&f->file, &at, &unit))
		err = walk(f, &unit, 0);
	dwarf_budget__leave(&f->file.budget);
	if (f->cnt)
		qsort(f->items, f->cnt, sizeof(*f->items), function_order);
	return err;
}

int dwarf_functions__open(const struct elf_image *img, const char *root,
			  struct dwarf_functions **out)
{
	struct dwarf_functions *f = calloc(1, sizeof(*f));
	int err = f ? dwarf_file__open(&f->file, img, root) : -ENOMEM;

	if (!err)
		err = load(f);
	if (!err && !f->cnt)
		err = -ENOENT;
	if (err) {
		dwarf_functions__free(f);
		return err;
	}
	*out = f;
	return 0;
}

void dwarf_functions__free(struct dwarf_functions *f)
{
	if (!f)
		return;
	dwarf_file__close(&f->file);
	free(f->items);
	free(f);
}

struct dwarf_file *dwarf_functions__file(struct dwarf_functions *f)
{
	return &f->file;
}

bool dwarf_functions__at(const struct dwarf_functions *f, uint64_t vaddr, Dwarf_Die *die)
{
	size_t at = LOWER_BOUND(f->cnt, i, f->items[i].vaddr < vaddr);

	return at < f->cnt && f->items[at].vaddr == vaddr &&
	       dwarf_offdie(f->file.dwarf, f->items[at].die, die);
}
