// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw parses, and checks what it parses against the sections. Left to us: how much there may be
 * of it, references in circles, and that it opens no file that a stranger names (DWZ's common file,
 * which it would look for by path; split units are never asked for).
 */
#include "symbol/dwarf_functions.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/debug_file.h"
#include "symbol/elf_image.h"
#include "symbol/elf_inside.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_SECTIONS (2ull << 30) /* bytes of debug information, unpacked */
#define MAX_DIES     (1u << 25)
#define MAX_DEPTH    16 /* of namespaces and classes */
#define MAX_RANGES   16 /* of a function */

struct dwarf_function {
	uint64_t vaddr;
	Dwarf_Off die;
};

struct dwarf_functions {
	struct elf_image *debug; /* NULL: the image's own sections are read */
	Dwarf *dwarf;
	struct dwarf_function *items; /* by address, then by place */
	size_t cnt, cap;
	uint32_t dies; /* looked at */
};

static bool is_debug(const struct elf_section *sec)
{
	return !strncmp(sec->name, ".debug_", strlen(".debug_"));
}

/* Bytes that the section takes once it is unpacked. */
static uint64_t unpacked_size(const struct elf_image *img, const struct elf_section *sec)
{
	Elf64_Chdr header;

	if (!(sec->flags & SHF_COMPRESSED))
		return sec->size;
	if (elf_image__read(img, sec->offset, &header, sizeof(header)) != sizeof(header))
		return UINT64_MAX;
	return header.ch_size;
}

/* Returns 0, -ENOENT or -ENOTSUP. */
static int check_sections(const struct elf_image *img)
{
	const struct elf_section *info = elf_section__by_name(img, ".debug_info"), *sec;
	uint64_t left = MAX_SECTIONS;
	size_t cnt;

	/* Debug files have the names of all sections, of code too, without their bytes. */
	if (!info || info->type == SHT_NOBITS)
		return -ENOENT;
	if (elf_section__by_name(img, ".gnu_debugaltlink"))
		return -ENOTSUP;
	sec = elf_image__sections(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t size = is_debug(&sec[i]) ? unpacked_size(img, &sec[i]) : 0;

		if (size > left || !strncmp(sec[i].name, ".zdebug_", strlen(".zdebug_")))
			return -ENOTSUP;
		left -= size;
	}
	return 0;
}

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
	} while (!err && !dwarf_siblingof(&die, &die));
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
	Dwarf_Off at = 0, next;
	size_t header;
	int err = 0;

	while (!err && !dwarf_nextcu(f->dwarf, at, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die unit;

		if (dwarf_offdie(f->dwarf, at + header, &unit))
			err = walk(f, &unit, 0);
		if (next <= at || f->dies > MAX_DIES)
			break;
		at = next;
	}
	if (f->cnt)
		qsort(f->items, f->cnt, sizeof(*f->items), function_order);
	return err;
}

int dwarf_functions__open(const struct elf_image *img, const char *root,
			  struct dwarf_functions **out)
{
	struct dwarf_functions *f = calloc(1, sizeof(*f));
	const struct elf_image *from = img;
	int err = f ? check_sections(img) : -ENOMEM;

	if (err == -ENOENT) {
		err = debug_file__open(img, root, &f->debug);
		from = f->debug;
		if (!err)
			err = check_sections(from);
	}
	if (!err) {
		f->dwarf = dwarf_begin_elf(elf_image__elf(from), DWARF_C_READ, NULL);
		err = f->dwarf ? load(f) : -ENOENT;
	}
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
	dwarf_end(f->dwarf);
	elf_image__free(f->debug);
	free(f->items);
	free(f);
}

bool dwarf_functions__at(const struct dwarf_functions *f, uint64_t vaddr, Dwarf_Die *die)
{
	size_t at = LOWER_BOUND(f->cnt, i, f->items[i].vaddr < vaddr);

	return at < f->cnt && f->items[at].vaddr == vaddr &&
	       dwarf_offdie(f->dwarf, f->items[at].die, die);
}
