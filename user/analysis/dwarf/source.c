// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debug information can be gigabytes, and a run has called functions of a few units. So the unit
 * that an address lies in is looked up first (.debug_aranges, or the ranges that units state), and
 * only in units with wanted functions the entries are walked, up to the last one wanted.
 */
#include "dwarf/source.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_functions.h"
#include "dwarf/line_files.h"
#include "dwarf/source_paths.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_DIES   (1u << 25)
#define MAX_RANGES (1u << 22) /* of all units */
#define MAX_PARTS  64	      /* ranges of a function, of which one begins with its entry */
#define MAX_DEPTH  16	      /* of namespaces and classes */
#define MAX_NAMES  (1u << 24) /* in headers of line tables */

struct unit_range {
	uint64_t low, high;
	Dwarf_Off unit;
};

struct source {
	struct dwarf_file file;
	struct unit_range *ranges; /* by address; made when .debug_aranges lacks one */
	size_t ranges_cnt, ranges_cap;
	bool ranges_made;
	struct line_files files; /* of the table at files_at */
	uint64_t files_at;
	bool files_read;
	int files_err;
	uint32_t names_left; /* of files, that may still be read */
	struct source_paths paths;
	uint32_t dies; /* looked at */
};

/* Places in one unit. */
struct search {
	struct source *source;
	Dwarf_Die unit;
	struct source_place *places;
	size_t cnt, left;
};

/* A place and the unit that it is in. */
struct placed {
	Dwarf_Off unit;
	size_t place;
};

static bool lines_of(Dwarf_Die *unit, Dwarf_Word *at)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, DW_AT_stmt_list, &attr) && !dwarf_formudata(&attr, at);
}

/* The unit's files, read if they are not the last ones. */
static bool load_files(struct source *s, Dwarf_Die *unit)
{
	Dwarf_Word at;

	if (!lines_of(unit, &at))
		return false;
	if (!s->files_read || s->files_at != at) {
		s->files_read = true;
		s->files_at = at;
		s->files_err = line_files__read(&s->files, &s->file.sections, at, &s->names_left);
	}
	return !s->files_err;
}

/* An instance of a function stands in one unit, and what it is an instance of may in another: the
 * file's number counts there. */
static void find_declared(struct search *s, Dwarf_Die *die, struct source_place *place)
{
	Dwarf_Attribute file, line;
	const struct line_file *f;
	Dwarf_Word number, at;
	Dwarf_Die unit;

	if (!dwarf_functions__attribute(die, DW_AT_decl_file, &file) ||
	    !dwarf_functions__attribute(die, DW_AT_decl_line, &line) ||
	    dwarf_formudata(&file, &number) || dwarf_formudata(&line, &at) || !at || at > INT32_MAX)
		return;
	if (!dwarf_cu_die(file.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    !load_files(s->source, &unit) || number >= s->source->files.cnt)
		return;
	f = &s->source->files.items[number];
	place->file = source_paths__get(&s->source->paths, &unit, f->dir, f->name);
	place->line = place->file ? at : 0;
}

static void find_in_lines(struct search *s, struct source_place *place)
{
	Dwarf_Line *line;
	int number;

	if (!dwarf_file__may_read_lines(&s->source->file, &s->unit))
		return;
	line = dwarf_getsrc_die(&s->unit, place->vaddr);
	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return;
	place->file = source_paths__get(&s->source->paths, &s->unit, NULL,
					dwarf_linesrc(line, NULL, NULL));
	place->line = place->file ? number : 0;
}

static void take(struct search *s, Dwarf_Die *die, uint64_t vaddr)
{
	size_t at = LOWER_BOUND(s->cnt, i, s->places[i].vaddr < vaddr);

	for (; at < s->cnt && s->places[at].vaddr == vaddr; at++) {
		if (s->places[at].file)
			continue;
		find_declared(s, die, &s->places[at]);
		s->left -= s->places[at].file != NULL;
	}
}

static void take_function(struct search *s, Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	if (!dwarf_lowpc(die, &begin)) {
		take(s, die, begin);
		return;
	}
	for (int i = 0; i < MAX_PARTS; i++) {
		at = dwarf_ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			return;
		take(s, die, begin);
	}
}

static void walk(struct search *s, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		if (++s->source->dies > MAX_DIES)
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			take_function(s, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type: /* Rust's have functions */
		case DW_TAG_module:
			walk(s, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (s->left && dwarf_file__sibling(&s->source->file, &die));
}

static int range_order(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static int add_unit(struct source *s, Dwarf_Die *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		if (!dwarf_budget__lasts(&s->file.budget))
			return 0;
		if (low >= high)
			continue;
		if (s->ranges_cnt == MAX_RANGES)
			return 0;
		if (ARRAY_RESERVE(&s->ranges, s->ranges_cnt, &s->ranges_cap))
			return -ENOMEM;
		s->ranges[s->ranges_cnt++] = (struct unit_range){low, high, dwarf_dieoffset(unit)};
	}
	return 0;
}

static int make_ranges(struct source *s)
{
	Dwarf_Off at = 0;
	Dwarf_Die unit;
	int err = 0;

	s->ranges_made = true;
	while (!err && s->ranges_cnt < MAX_RANGES && dwarf_file__unit(&s->file, &at, &unit))
		err = add_unit(s, &unit);
	if (s->ranges_cnt)
		qsort(s->ranges, s->ranges_cnt, sizeof(*s->ranges), range_order);
	return err;
}

/* Clang leaves .debug_aranges out, and programs are linked of what several compilers made. */
static int find_unit(struct source *s, uint64_t vaddr, Dwarf_Off *unit, bool *found)
{
	Dwarf_Die die;
	size_t at;
	int err;

	*found = dwarf_addrdie(s->file.dwarf, vaddr, &die);
	if (*found) {
		*unit = dwarf_dieoffset(&die);
		return 0;
	}
	err = s->ranges_made ? 0 : make_ranges(s);
	at = LOWER_BOUND(s->ranges_cnt, i, s->ranges[i].low <= vaddr);
	if (err || !at || vaddr >= s->ranges[at - 1].high)
		return err;
	*unit = s->ranges[at - 1].unit;
	*found = true;
	return 0;
}

static int placed_order(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void find_in_unit(struct source *s, Dwarf_Off unit, struct source_place *places, size_t cnt)
{
	struct search search = {.source = s, .places = places, .cnt = cnt, .left = cnt};

	if (!dwarf_offdie(s->file.dwarf, unit, &search.unit))
		return;
	walk(&search, &search.unit, 0);
	for (size_t i = 0; i < cnt && search.left; i++) {
		if (!places[i].file)
			find_in_lines(&search, &places[i]);
	}
}

/* Unit by unit, in a copy. */
static void find_all(struct source *s, const struct placed *placed, size_t cnt,
		     struct source_place *copy, struct source_place *places)
{
	size_t begin = 0, end;

	for (size_t i = 0; i < cnt; i++)
		copy[i] = places[placed[i].place];
	for (; begin < cnt && dwarf_budget__lasts(&s->file.budget); begin = end) {
		for (end = begin + 1; end < cnt && placed[end].unit == placed[begin].unit;)
			end++;
		find_in_unit(s, placed[begin].unit, copy + begin, end - begin);
	}
	for (size_t i = 0; i < cnt; i++)
		places[placed[i].place] = copy[i];
}

int source__find(struct source *s, struct source_place *places, size_t cnt)
{
	struct placed *placed = calloc(cnt + 1, sizeof(*placed));
	struct source_place *copy = calloc(cnt + 1, sizeof(*copy));
	int err = placed && copy ? 0 : -ENOMEM;
	size_t placed_cnt = 0;

	dwarf_budget__enter(&s->file.budget);
	for (size_t i = 0; i < cnt && !err; i++) {
		struct placed *p = &placed[placed_cnt];
		bool found;

		places[i].file = NULL;
		places[i].line = 0;
		err = find_unit(s, places[i].vaddr, &p->unit, &found);
		p->place = i;
		placed_cnt += found;
	}
	if (!err) {
		qsort(placed, placed_cnt, sizeof(*placed), placed_order);
		find_all(s, placed, placed_cnt, copy, places);
	}
	dwarf_budget__leave(&s->file.budget);
	free(placed);
	free(copy);
	return err;
}

int source__open(const struct elf_image *img, const char *root, struct source **out)
{
	struct source *s = calloc(1, sizeof(*s));
	int err = s ? dwarf_file__open(&s->file, img, root) : -ENOMEM;

	if (err) {
		source__free(s);
		return err;
	}
	s->names_left = MAX_NAMES;
	*out = s;
	return 0;
}

void source__free(struct source *s)
{
	if (!s)
		return;
	dwarf_file__close(&s->file);
	source_paths__clear(&s->paths);
	free(s->ranges);
	line_files__clear(&s->files);
	free(s);
}
