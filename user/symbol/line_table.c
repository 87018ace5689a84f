// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A unit's line table and the functions in it are read when the first address in the unit is asked
 * for. libdw does the reading, within the limits of dwarf_file.h; what remains to be bounded here
 * is what a few bytes can stand for: rows, and ranges that cover each other.
 */
#include "symbol/line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbol/dwarf_file.h"
#include "symbol/dwarf_functions.h"
#include "symbol/elf_image.h"
#include "symbol/elf_inside.h"
#include "symbol/function_traits.h"
#include "symbol/source_paths.h"
#include "util/array.h"
#include "util/search.h"

/* Bytes of line tables, each of which may become a row of seventy: compilers make about one for
 * each byte of code. */
#define MAX_TABLES  (256u << 20)
#define MIN_TABLES  (1u << 20) /* granted to every file */
#define TABLE_SHARE 8	       /* ... and for each byte that the file may have of code */
#define MAX_UNITS   (1u << 20)
#define MAX_RANGES  (1u << 22) /* of units, of functions */
#define MAX_OF_DIE  4096       /* ranges of one function or call */
#define MAX_DIES    (1u << 25) /* looked at */
#define MAX_NESTING 64	       /* of scopes and inlined calls, of namespaces and classes */
#define MAX_LABELS  4096       /* in one function */
#define MAX_INLINES (1u << 20) /* of a function */
#define MAX_COVER   64	       /* inlined calls that the average byte of a function may be in */

struct range {
	uint64_t begin, end;
	Dwarf_Off die;
	uint32_t unit;
};

struct ranges {
	struct range *items; /* by begin */
	size_t cnt, cap;
};

struct unit {
	Dwarf_Off die;
	struct ranges functions;
	bool functions_read;
};

struct line_table {
	struct dwarf_file file;
	struct unit *units;
	size_t units_cnt, units_cap;
	struct ranges ranges; /* of the units */
	struct source_paths paths;
	uint32_t dies; /* looked at so far */
	bool split;
};

/* The paths of the search: what is being filled in. */
struct painting {
	struct line_table *t;
	const struct line_piece *pieces;
	size_t pieces_cnt;
	Dwarf_Files *files;
	size_t files_cnt;
	struct line_inlines *out;
	size_t base;	 /* calls that `out` had before */
	uint64_t budget; /* bytes that may still be painted */
};

static int range_order(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

static void ranges_sort(struct ranges *r)
{
	if (r->cnt)
		qsort(r->items, r->cnt, sizeof(*r->items), range_order);
}

/* The range that holds `vaddr`; NULL: none. Where they overlap, one of the file's own making is as
 * good as the other. */
static const struct range *range_at(const struct ranges *r, uint64_t vaddr)
{
	size_t at = LOWER_BOUND(r->cnt, i, r->items[i].begin <= vaddr);

	return at && vaddr < r->items[at - 1].end ? &r->items[at - 1] : NULL;
}

/* Adds all ranges of the code that `die` describes, at most so many. */
static int ranges_add(struct ranges *r, Dwarf_Die *die, uint32_t unit, uint32_t limit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	for (uint32_t i = 0; i < limit && r->cnt < MAX_RANGES; i++) {
		at = dwarf_ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			break;
		if (begin >= end)
			continue;
		if (ARRAY_RESERVE(&r->items, r->cnt, &r->cap))
			return -ENOMEM;
		r->items[r->cnt++] = (struct range){begin, end, dwarf_dieoffset(die), unit};
	}
	return 0;
}

static int add_unit(struct line_table *t, Dwarf_Die *die)
{
	if (ARRAY_RESERVE(&t->units, t->units_cnt, &t->units_cap))
		return -ENOMEM;
	t->units[t->units_cnt++] = (struct unit){.die = dwarf_dieoffset(die)};
	t->split |= dwarf_hasattr(die, DW_AT_dwo_name) || dwarf_hasattr(die, DW_AT_GNU_dwo_name);
	/* One for each inline function that the linker may have thrown away. */
	return ranges_add(&t->ranges, die, t->units_cnt - 1, MAX_RANGES);
}

static int load_units(struct line_table *t)
{
	Dwarf_Off at = 0, next;
	size_t header;
	int err = 0;

	while (!err && t->units_cnt < MAX_UNITS &&
	       !dwarf_nextcu(t->file.dwarf, at, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die die;

		if (dwarf_offdie(t->file.dwarf, at + header, &die) &&
		    dwarf_hasattr(&die, DW_AT_stmt_list))
			err = add_unit(t, &die);
		if (next <= at)
			break;
		at = next;
	}
	ranges_sort(&t->ranges);
	return err;
}

static uint64_t table_limit(const struct elf_image *img)
{
	uint64_t limit = MIN_TABLES + TABLE_SHARE * elf_image__size(img);

	return limit < MAX_TABLES ? limit : MAX_TABLES;
}

int line_table__open(const struct elf_image *img, const char *root, struct line_table **out)
{
	struct line_table *t = calloc(1, sizeof(*t));
	int err = t ? dwarf_file__open(&t->file, img, root) : -ENOMEM;

	if (!err && dwarf_file__size(&t->file, img, ".debug_line") > table_limit(img))
		err = -ENOTSUP;
	if (!err)
		err = load_units(t);
	if (!err && !t->ranges.cnt)
		err = -ENOENT;
	if (err) {
		line_table__free(t);
		return err;
	}
	*out = t;
	return 0;
}

void line_table__free(struct line_table *t)
{
	if (!t)
		return;
	dwarf_file__close(&t->file);
	source_paths__clear(&t->paths);
	for (size_t i = 0; i < t->units_cnt; i++)
		free(t->units[i].functions.items);
	free(t->units);
	free(t->ranges.items);
	free(t);
}

bool line_table__is_split(const struct line_table *t)
{
	return t->split;
}

static Dwarf_Lines *unit_lines(struct line_table *t, const struct unit *u, Dwarf_Die *die,
			       size_t *cnt)
{
	Dwarf_Lines *lines;

	*cnt = 0;
	if (!dwarf_offdie(t->file.dwarf, u->die, die) || dwarf_getsrclines(die, &lines, cnt))
		return NULL;
	return lines;
}

static uint64_t row_vaddr(Dwarf_Lines *lines, size_t i)
{
	Dwarf_Addr addr;

	return dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr) ? UINT64_MAX : addr;
}

static struct line_row row_at(struct line_table *t, Dwarf_Die *unit, Dwarf_Lines *lines, size_t i)
{
	struct line_row row = {.vaddr = row_vaddr(lines, i)};
	Dwarf_Line *line = dwarf_onesrcline(lines, i);
	bool ends = true;
	int number = 0;

	if (dwarf_lineendsequence(line, &ends) || ends || dwarf_lineno(line, &number) ||
	    number <= 0)
		return row;
	row.file = source_paths__get(&t->paths, unit, NULL, dwarf_linesrc(line, NULL, NULL));
	row.line = row.file ? number : 0;
	return row;
}

/* A row in place of one at the same address, which has no code then. */
static int put_row(const struct line_row *row, size_t first, struct line_row **rows, size_t *cnt,
		   size_t *cap)
{
	if (*cnt > first && (*rows)[*cnt - 1].vaddr == row->vaddr) {
		(*rows)[*cnt - 1] = *row;
		return 0;
	}
	if (ARRAY_RESERVE(rows, *cnt, cap))
		return -ENOMEM;
	(*rows)[(*cnt)++] = *row;
	return 0;
}

int line_table__rows(struct line_table *t, uint64_t begin, uint64_t end, struct line_row **rows,
		     size_t *cnt, size_t *cap)
{
	struct line_row none = {.vaddr = begin};
	size_t first = *cnt;
	int err = put_row(&none, first, rows, cnt, cap);

	/* A function is in one unit, unless the file is damaged. */
	const struct range *range = range_at(&t->ranges, begin);
	size_t lines_cnt = 0;
	Dwarf_Die die;
	Dwarf_Lines *lines = range ? unit_lines(t, &t->units[range->unit], &die, &lines_cnt) : NULL;
	size_t i = LOWER_BOUND(lines_cnt, k, row_vaddr(lines, k) <= begin);

	for (i = i ? i - 1 : 0; !err && i < lines_cnt; i++) {
		struct line_row row = row_at(t, &die, lines, i);

		if (row.vaddr >= end)
			break;
		if (row.vaddr < begin)
			row.vaddr = begin;
		err = put_row(&row, first, rows, cnt, cap);
	}
	return err;
}

int line_table__each(struct line_table *t, line_visitor fn, void *ctx)
{
	int err = 0;

	for (size_t u = 0; !err && u < t->units_cnt; u++) {
		size_t cnt;
		Dwarf_Die die;
		Dwarf_Lines *lines = unit_lines(t, &t->units[u], &die, &cnt);

		for (size_t i = 0; !err && i + 1 < cnt; i++) {
			uint64_t end = row_vaddr(lines, i + 1);
			struct line_row row;

			if (end <= row_vaddr(lines, i))
				continue;
			row = row_at(t, &die, lines, i);
			if (row.file)
				err = fn(ctx, &row, end);
		}
	}
	return err;
}

/* Whether `die` may hold functions. */
static bool holds_functions(int tag)
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

/* What is known of where a walk has come to, for what is in a DIE. */
struct scope {
	bool enter;	      /* whether that is visited at all */
	uint32_t inlined;     /* the innermost inlined call: its number, 0: none */
	const char *function; /* NULL: none */
};

/* Looks at a DIE; *inside begins as what was said of that around it, without `enter`. */
typedef int (*die_visitor)(void *ctx, Dwarf_Die *die, int tag, struct scope *inside);

/* Visits what is in `parent`, up to MAX_DIES in all. Ends when a visitor returns other than 0, with
 * that. */
static int walk_dies(struct line_table *t, Dwarf_Die *parent, struct scope scope, int depth,
		     die_visitor visit, void *ctx)
{
	Dwarf_Die die;
	int err = 0;

	if (depth == MAX_NESTING || dwarf_child(parent, &die))
		return 0;
	do {
		struct scope inside = scope;

		inside.enter = false;
		if (++t->dies > MAX_DIES)
			return 0;
		err = visit(ctx, &die, dwarf_tag(&die), &inside);
		if (!err && inside.enter)
			err = walk_dies(t, &die, inside, depth + 1, visit, ctx);
	} while (!err && !dwarf_siblingof(&die, &die));
	return err;
}

/* The functions of a unit. */
struct gathering {
	struct line_table *t;
	uint32_t unit;
};

static int gather_function(void *ctx, Dwarf_Die *die, int tag, struct scope *inside)
{
	struct gathering *g = ctx;

	inside->enter = holds_functions(tag);
	if (tag != DW_TAG_subprogram)
		return 0;
	return ranges_add(&g->t->units[g->unit].functions, die, g->unit, MAX_OF_DIE);
}

static int load_functions(struct line_table *t, uint32_t unit)
{
	struct gathering g = {t, unit};
	struct unit *u = &t->units[unit];
	Dwarf_Die die;
	int err = 0;

	if (u->functions_read)
		return 0;
	u->functions_read = true;
	if (dwarf_offdie(t->file.dwarf, u->die, &die))
		err = walk_dies(t, &die, (struct scope){0}, 0, gather_function, &g);
	ranges_sort(&u->functions);
	return err;
}

/* The name that the linker knows, else the plain one. */
static const char *name_of(const Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	const char *name = NULL;
	Dwarf_Attribute attr;

	for (size_t i = 0; !name && i < sizeof(names) / sizeof(*names); i++) {
		if (dwarf_functions__attribute(die, names[i], &attr))
			name = dwarf_formstring(&attr);
	}
	return name ? name : "";
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) ? value : 0;
}

static struct line_inline call_of(struct line_table *t, Dwarf_Die *die, Dwarf_Files *files,
				  size_t files_cnt)
{
	uint64_t file = number_of(die, DW_AT_call_file), line = number_of(die, DW_AT_call_line);
	struct line_inline call = {.name = name_of(die)};
	Dwarf_Die unit;

	if (files && dwarf_diecu(die, &unit, NULL, NULL) && file < files_cnt && line &&
	    line <= INT32_MAX) {
		call.file = source_paths__get(&t->paths, &unit, NULL,
					      dwarf_filesrc(files, file, NULL, NULL));
		call.line = line;
	}
	return call;
}

/* Gives [begin, end) to inlined call number `value`. */
static void paint_range(struct painting *p, uint64_t begin, uint64_t end, uint32_t value)
{
	for (size_t i = 0; i < p->pieces_cnt; i++) {
		const struct line_piece *piece = &p->pieces[i];
		uint64_t from = begin > piece->vaddr ? begin - piece->vaddr : 0;
		uint64_t to = end > piece->vaddr ? end - piece->vaddr : 0;

		if (to > piece->size)
			to = piece->size;
		if (from >= to || to - from > p->budget)
			continue;
		p->budget -= to - from;
		for (uint64_t at = from; at < to; at++)
			piece->inlined[at] = value;
	}
}

static void paint_ranges(struct painting *p, Dwarf_Die *die, uint32_t value)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < MAX_OF_DIE; i++) {
		at = dwarf_ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			break;
		paint_range(p, begin, end, value);
	}
}

static int add_label(struct painting *p, Dwarf_Die *die)
{
	int line;

	if (dwarf_decl_line(die, &line) || line <= 0 || p->out->labels_cnt == MAX_LABELS)
		return 0;
	if (ARRAY_RESERVE(&p->out->labels, p->out->labels_cnt, &p->out->labels_cap))
		return -ENOMEM;
	p->out->labels[p->out->labels_cnt++] = line;
	return 0;
}

static bool holds_inlined(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* Inner calls come later, so theirs is what remains of the bytes of both. */
static int paint_die(void *ctx, Dwarf_Die *die, int tag, struct scope *inside)
{
	struct painting *p = ctx;

	inside->enter = holds_inlined(tag) || tag == DW_TAG_lexical_block;
	if (tag == DW_TAG_inlined_subroutine && p->out->cnt - p->base < MAX_INLINES) {
		if (ARRAY_RESERVE(&p->out->items, p->out->cnt, &p->out->cap))
			return -ENOMEM;
		p->out->items[p->out->cnt] = call_of(p->t, die, p->files, p->files_cnt);
		p->out->items[p->out->cnt++].parent = inside->inlined;
		inside->inlined = p->out->cnt;
		paint_ranges(p, die, inside->inlined);
	}
	return tag == DW_TAG_label ? add_label(p, die) : 0;
}

int line_table__inlined(struct line_table *t, const struct line_piece *pieces, size_t cnt,
			struct line_inlines *out)
{
	const struct range *unit = cnt ? range_at(&t->ranges, pieces[0].vaddr) : NULL, *function;
	struct painting p = {
		.t = t, .pieces = pieces, .pieces_cnt = cnt, .out = out, .base = out->cnt};
	Dwarf_Die die;
	int err;

	if (!unit)
		return 0;
	err = load_functions(t, unit->unit);
	if (err)
		return err;
	function = range_at(&t->units[unit->unit].functions, pieces[0].vaddr);
	if (!function)
		return 0;
	for (size_t i = 0; i < cnt; i++)
		p.budget += (uint64_t)pieces[i].size * MAX_COVER;
	if (!dwarf_offdie(t->file.dwarf, t->units[unit->unit].die, &die) ||
	    dwarf_getsrcfiles(&die, &p.files, &p.files_cnt))
		p.files = NULL;
	if (!dwarf_offdie(t->file.dwarf, function->die, &die))
		return 0;
	return walk_dies(t, &die, (struct scope){0}, 0, paint_die, &p);
}

int line_table__traits(struct line_table *t, uint64_t vaddr, struct function_traits *out)
{
	const struct range *unit = range_at(&t->ranges, vaddr), *function;
	Dwarf_Die die, unit_die;
	int err;

	*out = (struct function_traits){0};
	if (!unit)
		return 0;
	err = load_functions(t, unit->unit);
	if (err)
		return err;
	function = range_at(&t->units[unit->unit].functions, vaddr);
	if (function && dwarf_offdie(t->file.dwarf, function->die, &die) &&
	    dwarf_offdie(t->file.dwarf, t->units[unit->unit].die, &unit_die))
		*out = function_traits__of(&die, &unit_die);
	if (out->file)
		out->file = source_paths__get(&t->paths, &unit_die, NULL, out->file);
	return 0;
}

/* A search for inlined calls by name. */
struct search {
	struct line_table *t;
	line_name_matcher matches;
	line_inline_visitor fn;
	void *ctx;
	Dwarf_Files *files;
	size_t files_cnt;
};

static int search_die(void *ctx, Dwarf_Die *die, int tag, struct scope *inside)
{
	struct search *s = ctx;
	Dwarf_Addr base, begin, end;
	int err = 0;

	inside->enter = holds_functions(tag) || holds_inlined(tag);
	if (tag == DW_TAG_inlined_subroutine && inside->function) {
		struct line_inline call = call_of(s->t, die, s->files, s->files_cnt);

		if (s->matches(s->ctx, call.name) && dwarf_ranges(die, 0, &base, &begin, &end) > 0)
			err = s->fn(s->ctx, begin, end, inside->function, &call);
	}
	if (tag == DW_TAG_subprogram)
		inside->function = name_of(die);
	return err;
}

int line_table__find_inlined(struct line_table *t, line_name_matcher matches,
			     line_inline_visitor fn, void *ctx)
{
	struct search s = {.t = t, .matches = matches, .fn = fn, .ctx = ctx};
	int err = 0;

	for (size_t u = 0; !err && u < t->units_cnt; u++) {
		Dwarf_Die die;

		if (!dwarf_offdie(t->file.dwarf, t->units[u].die, &die))
			continue;
		if (dwarf_getsrcfiles(&die, &s.files, &s.files_cnt))
			s.files = NULL;
		err = walk_dies(t, &die, (struct scope){0}, 0, search_die, &s);
	}
	return err;
}
