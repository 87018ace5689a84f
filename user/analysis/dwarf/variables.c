// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Variables are found by a walk over all units: first over those outside of functions, which are
 * few, then, if one that is asked for is not among them, over those inside as well.
 */
#include "dwarf/variables.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/die_attributes.h"
#include "dwarf/dwarf_units.h"
#include "util/clock.h"
#include "util/log.h"

#define WALKS_NS    300000000ull /* CPU time, for walks over one file */
#define LOOK_DIES   1024	 /* between two looks at the clock */
#define MAX_MEMBERS 65536	 /* looked at for one path */
#define MAX_NESTED  16		 /* structures and arrays in one another */
#define MAX_DIMS    8		 /* of an array */

struct variables {
	struct dwarf_units units;
	struct die_ranges found; /* a byte each, at its begin */
	bool outside, inside;	 /* of functions: those have been looked for */
	bool enters;		 /* functions, on this walk */
	uint32_t dies;		 /* met on walks */
	uint64_t since_ns, left_ns;
};

int variables__open(const struct elf_image *img, const char *root, struct variables **out)
{
	struct variables *v = calloc(1, sizeof(*v));
	int err = v ? dwarf_units__open(&v->units, img, root) : -ENOMEM;

	if (err) {
		variables__free(v);
		return err;
	}
	v->left_ns = WALKS_NS;
	*out = v;
	return 0;
}

void variables__free(struct variables *v)
{
	if (!v)
		return;
	dwarf_units__close(&v->units);
	free(v->found.items);
	free(v);
}

/* The address of a variable that has one place for the whole run. */
static bool address_of(Dwarf_Die *die, uint64_t *vaddr)
{
	Dwarf_Attribute location, address;
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t cnt;

	if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_formblock(&location, &block) ||
	    !block.length)
		return false;
	if (block.data[0] == DW_OP_addr && block.length == 1 + sizeof(*vaddr)) {
		memcpy(vaddr, block.data + 1, sizeof(*vaddr));
		return true;
	}
	return (block.data[0] == DW_OP_addrx || block.data[0] == DW_OP_GNU_addr_index) &&
	       !dwarf_getlocation(&location, &ops, &cnt) && cnt == 1 &&
	       !dwarf_getlocation_attr(&location, ops, &address) &&
	       !dwarf_formaddr(&address, vaddr);
}

/* Returns 1 if the time is up, 0 or -ENOMEM. */
static int gather(void *ctx, Dwarf_Die *die, int tag, struct dwarf_scope *inside)
{
	struct variables *v = ctx;
	uint64_t vaddr;

	inside->enter =
		dwarf_units__holds_functions(tag) && (v->enters || tag != DW_TAG_subprogram);
	if (++v->dies % LOOK_DIES == 0 &&
	    clock_ns(CLOCK_THREAD_CPUTIME_ID) - v->since_ns > v->left_ns)
		return 1;
	if (tag != DW_TAG_variable || !address_of(die, &vaddr))
		return 0;
	return die_ranges__insert(&v->found,
				  (struct die_range){vaddr, vaddr + 1, dwarf_dieoffset(die), 0});
}

/* Finds the file's variables. What is found before an error or the end of the time counts. */
static void walk(struct variables *v, bool enters)
{
	struct dwarf_budget *budget = &v->units.file.budget;
	uint64_t spent_ns;
	int err = 0;

	if (!v->left_ns)
		return;
	v->enters = enters;
	v->found.cnt = 0;
	dwarf_budget__enter(budget);
	v->since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (size_t i = 0; i < v->units.cnt && !err; i++) {
		Dwarf_Die unit;

		if (dwarf_offdie(v->units.file.dwarf, v->units.items[i].die, &unit) &&
		    die_is_c(&unit))
			err = dwarf_units__walk(&v->units, &unit, gather, v);
	}
	spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - v->since_ns;
	dwarf_budget__leave(budget);
	v->left_ns -= spent_ns < v->left_ns ? spent_ns : v->left_ns;
	if (err > 0) {
		log_info("%s: its debug information is large, so locks in some of its variables "
			 "are named without their members",
			 budget->label);
		v->left_ns = 0;
	}
	die_ranges__sort(&v->found);
}

static bool find_variable(struct variables *v, uint64_t vaddr, Dwarf_Die *die)
{
	const struct die_range *range;

	if (!v->outside)
		walk(v, false);
	v->outside = true;
	range = die_ranges__at(&v->found, vaddr);
	if (!range && !v->inside) {
		v->inside = true;
		walk(v, true);
		range = die_ranges__at(&v->found, vaddr);
	}
	return range && dwarf_offdie(v->units.file.dwarf, range->die, die);
}

/* A way into a variable. */
struct way {
	struct dwarf_file *file;
	Dwarf_Die type;	   /* of what was come to */
	uint64_t offset;   /* in that */
	unsigned int left; /* entries that may still be looked at */
	bool reserved;	   /* the last member with a name was the library's own */
	char *word;	   /* that name */
	char *path;
	size_t len;
};

static void append(struct way *w, const char *text)
{
	size_t len = strlen(text);

	/* Cut at a whole step. */
	if (w->len + len >= VARIABLE_PATH)
		return;
	memcpy(w->path + w->len, text, len + 1);
	w->len += len;
}

/* Whether an array's elements are numbers or the like. */
static bool is_scalar(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_array_type:
		return false;
	default:
		return true;
	}
}

/* How many elements an array has, dimension by dimension; UINT64_MAX: as many as there is room for.
 */
static size_t dimensions(struct way *w, Dwarf_Die *array, uint64_t dims[MAX_DIMS])
{
	size_t cnt = 0;
	Dwarf_Die die;
	bool more = !dwarf_child(array, &die);

	for (; more && cnt < MAX_DIMS && w->left; more = dwarf_file__sibling(w->file, &die)) {
		uint64_t last;

		w->left--;
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		last = die_number(&die, DW_AT_upper_bound, UINT64_MAX);
		dims[cnt++] =
			die_number(&die, DW_AT_count, last == UINT64_MAX ? UINT64_MAX : last + 1);
	}
	return cnt;
}

/* Goes on to where a type that is only declared here is defined, in a unit of its own. */
static void find_definition(Dwarf_Die *type)
{
	Dwarf_Attribute signature;
	Dwarf_Die defined;

	if (dwarf_attr(type, DW_AT_signature, &signature) &&
	    dwarf_formref_die(&signature, &defined))
		*type = defined;
}

/* Bytes of a type; 0: unknown. UINT64_MAX: all there is room for. */
static uint64_t size_of(struct way *w, Dwarf_Die *type, int depth)
{
	uint64_t bytes, dims[MAX_DIMS];
	Dwarf_Die element;
	size_t cnt;

	find_definition(type);
	bytes = die_number(type, DW_AT_byte_size, 0);
	if (dwarf_tag(type) == DW_TAG_pointer_type || dwarf_tag(type) == DW_TAG_reference_type)
		return 8;
	if (bytes || dwarf_tag(type) != DW_TAG_array_type || depth == MAX_NESTED ||
	    !die_type(type, &element))
		return bytes;
	bytes = size_of(w, &element, depth + 1);
	cnt = dimensions(w, type, dims);
	for (size_t i = 0; i < cnt; i++) {
		if (__builtin_mul_overflow(bytes, dims[i], &bytes))
			return UINT64_MAX;
	}
	return bytes;
}

/* Whether a DIE is a part of each object of its structure, which lies at whole bytes. */
static bool is_part(const Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	int tag = dwarf_tag((Dwarf_Die *)die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !dwarf_hasattr((Dwarf_Die *)die, DW_AT_bit_size) && !die_flag(die, DW_AT_external) &&
	       !die_flag(die, DW_AT_declaration) &&
	       !dwarf_attr((Dwarf_Die *)die, DW_AT_virtuality, &attr);
}

/* A member or base class, and where it lies. */
struct part {
	Dwarf_Die die, type;
	uint64_t at, bytes;
};

/* The part that holds the place; the largest, as of a union that stands for one thing by several
 * members, or of a base class that is empty; else the nearest before it whose size is not known, as
 * its type is only declared. */
static bool find_part(struct way *w, struct part *best)
{
	bool found = false, more;
	Dwarf_Die die;

	for (more = !dwarf_child(&w->type, &die); more && w->left;
	     more = dwarf_file__sibling(w->file, &die)) {
		struct part p = {.die = die};

		w->left--;
		if (!is_part(&die) || !die_type(&die, &p.type))
			continue;
		p.at = die_number(&die, DW_AT_data_member_location, 0);
		p.bytes = size_of(w, &p.type, 0);
		if (p.at > w->offset || (p.bytes && w->offset - p.at >= p.bytes))
			continue;
		if (found && (best->bytes ? p.bytes <= best->bytes : !p.bytes && p.at <= best->at))
			continue;
		*best = p;
		found = true;
	}
	return found;
}

/* Names that C and C++ reserve for the library: __data, _M_mutex. */
static bool is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

static bool enter_structure(struct way *w)
{
	struct part part;
	const char *name;

	if (!find_part(w, &part))
		return false;
	name = dwarf_tag(&part.die) == DW_TAG_member ? die_name(&part.die) : NULL;
	if (name) {
		w->reserved = is_reserved(name);
		snprintf(w->word, VARIABLE_WORD, "%s", name);
	}
	if (name && !w->reserved) {
		char step[VARIABLE_PATH];

		snprintf(step, sizeof(step), ".%.100s", name);
		append(w, step);
	}
	w->offset -= part.at;
	w->type = part.type;
	return true;
}

static bool enter_array(struct way *w)
{
	uint64_t dims[MAX_DIMS], bytes, index, below = 1;
	size_t cnt = dimensions(w, &w->type, dims);
	char step[24];
	Dwarf_Die element;

	if (!cnt || !die_type(&w->type, &element))
		return false;
	bytes = size_of(w, &element, 0);
	if (!bytes || bytes == UINT64_MAX)
		return false;
	index = w->offset / bytes;
	w->offset %= bytes;
	w->type = element;
	/* Words of a condition variable, in which its waiters take turns, tell nothing. */
	if (w->reserved && is_scalar(&element))
		return true;
	for (size_t i = 1; i < cnt; i++) {
		if (!dims[i] || __builtin_mul_overflow(below, dims[i], &below))
			return false;
	}
	if (index / below >= dims[0])
		return false;
	for (size_t i = 0; i < cnt; i++) {
		snprintf(step, sizeof(step), "[%llu]", (unsigned long long)(index / below));
		append(w, step);
		index %= below;
		below /= i + 1 < cnt ? dims[i + 1] : 1;
	}
	return true;
}

bool variables__member(struct variables *v, uint64_t vaddr, uint64_t offset,
		       char path[VARIABLE_PATH], char word[VARIABLE_WORD])
{
	struct dwarf_file *f = &v->units.file;
	struct way w = {
		.file = f, .offset = offset, .left = MAX_MEMBERS, .path = path, .word = word};
	bool inside = true;
	Dwarf_Die die;

	*path = *word = '\0';
	if (!find_variable(v, vaddr, &die) || !die_type(&die, &w.type))
		return false;
	find_definition(&w.type);
	dwarf_budget__enter(&f->budget);
	for (int i = 0; i < MAX_NESTED && inside; i++) {
		switch (dwarf_tag(&w.type)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			inside = enter_structure(&w);
			break;
		case DW_TAG_array_type:
			inside = enter_array(&w);
			break;
		default:
			inside = false;
			break;
		}
	}
	dwarf_budget__leave(&f->budget);
	return true;
}
