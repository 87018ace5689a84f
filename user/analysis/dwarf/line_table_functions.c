// SPDX-License-Identifier: GPL-2.0-or-later
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "dwarf/function_traits.h"
#include "dwarf/line_table.h"
#include "dwarf/line_table_inside.h"
#include "util/array.h"

#define MAX_OF_DIE  4096       /* ranges of one call */
#define MAX_LABELS  4096       /* in one function */
#define MAX_INLINES (1u << 20) /* of a function */
#define MAX_COVER   64	       /* inlined calls that the average byte of a function may be in */

const char *line_table__name_of(const Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	const char *name = NULL;
	Dwarf_Attribute attr;

	for (size_t i = 0; !name && i < sizeof(names) / sizeof(*names); i++) {
		if (dwarf_file__attribute(die, names[i], &attr))
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
	struct line_inline call = {.name = line_table__name_of(die)};
	Dwarf_Die unit;

	if (files && dwarf_diecu(die, &unit, NULL, NULL) && file < files_cnt && line &&
	    line <= INT32_MAX) {
		call.file = source_paths__get(&t->paths, &unit, NULL,
					      dwarf_filesrc(files, file, NULL, NULL));
		call.line = line;
	}
	return call;
}

/* A function's inlined calls while they are found: what is being filled in. */
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
static int paint_die(void *ctx, Dwarf_Die *die, int tag, struct dwarf_scope *inside)
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
	struct painting p = {
		.t = t, .pieces = pieces, .pieces_cnt = cnt, .out = out, .base = out->cnt};
	const struct die_range *function = NULL;
	Dwarf_Die die;
	int err = cnt ? dwarf_units__function_at(&t->units, pieces[0].vaddr, &function) : 0;

	if (err || !function)
		return err;
	for (size_t i = 0; i < cnt; i++)
		p.budget += (uint64_t)pieces[i].size * MAX_COVER;
	dwarf_budget__enter(&t->units.file.budget);
	if (!line_table__may_read(t, function->unit, &die) ||
	    dwarf_getsrcfiles(&die, &p.files, &p.files_cnt))
		p.files = NULL;
	if (dwarf_offdie(t->units.file.dwarf, function->die, &die))
		err = dwarf_units__walk(&t->units, &die, paint_die, &p);
	dwarf_budget__leave(&t->units.file.budget);
	return err;
}

int line_table__traits(struct line_table *t, uint64_t vaddr, struct function_traits *out)
{
	const struct die_range *function;
	Dwarf_Die die, unit;
	int err = dwarf_units__function_at(&t->units, vaddr, &function);

	*out = (struct function_traits){0};
	if (!function)
		return err;
	dwarf_budget__enter(&t->units.file.budget);
	if (dwarf_offdie(t->units.file.dwarf, function->die, &die) &&
	    dwarf_offdie(t->units.file.dwarf, t->units.items[function->unit].die, &unit))
		*out = function_traits__of(&t->units.file, &die, &unit);
	if (out->file)
		out->file = source_paths__get(&t->paths, &unit, NULL, out->file);
	dwarf_budget__leave(&t->units.file.budget);
	return err;
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

static int search_die(void *ctx, Dwarf_Die *die, int tag, struct dwarf_scope *inside)
{
	struct search *s = ctx;
	Dwarf_Addr base, begin, end;
	int err = 0;

	inside->enter = dwarf_units__holds_functions(tag) || holds_inlined(tag);
	if (tag == DW_TAG_inlined_subroutine && inside->function) {
		struct line_inline call = call_of(s->t, die, s->files, s->files_cnt);

		if (s->matches(s->ctx, call.name) && dwarf_ranges(die, 0, &base, &begin, &end) > 0)
			err = s->fn(s->ctx, begin, end, inside->function, &call);
	}
	if (tag == DW_TAG_subprogram)
		inside->function = line_table__name_of(die);
	return err;
}

int line_table__find_inlined(struct line_table *t, line_name_matcher matches,
			     line_inline_visitor fn, void *ctx)
{
	struct search s = {.t = t, .matches = matches, .fn = fn, .ctx = ctx};
	int err = 0;

	for (size_t u = 0; !err && u < t->units.cnt; u++) {
		Dwarf_Die die;

		dwarf_budget__enter(&t->units.file.budget);
		if (!line_table__may_read(t, u, &die) ||
		    dwarf_getsrcfiles(&die, &s.files, &s.files_cnt))
			s.files = NULL;
		if (dwarf_offdie(t->units.file.dwarf, t->units.items[u].die, &die))
			err = dwarf_units__walk(&t->units, &die, search_die, &s);
		dwarf_budget__leave(&t->units.file.budget);
	}
	return err;
}

/* The unit's files, read if they are not the last ones. */
static bool load_files(struct line_table *t, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Word at;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &at))
		return false;
	if (!t->files_read || t->files_at != at) {
		t->files_read = true;
		t->files_at = at;
		t->files_err =
			line_files__read(&t->files, &t->units.file.sections, at, &t->names_left);
	}
	return !t->files_err;
}

/* An instance of a function stands in one unit, and what it is an instance of may in another: the
 * file's number counts there. */
void line_table__find_declared(struct line_table *t, const Dwarf_Die *die, struct line_row *place)
{
	Dwarf_Attribute file, line;
	const struct line_file *f;
	Dwarf_Word number, at;
	Dwarf_Die unit;

	if (!dwarf_file__attribute(die, DW_AT_decl_file, &file) ||
	    !dwarf_file__attribute(die, DW_AT_decl_line, &line) ||
	    dwarf_formudata(&file, &number) || dwarf_formudata(&line, &at) || !at || at > INT32_MAX)
		return;
	if (!dwarf_cu_die(file.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    !load_files(t, &unit) || number >= t->files.cnt)
		return;
	f = &t->files.items[number];
	place->file = source_paths__get(&t->paths, &unit, f->dir, f->name);
	place->line = place->file ? at : 0;
}

int line_table__place(struct line_table *t, uint64_t vaddr, struct line_row *out)
{
	const struct die_range *function;
	struct line_row *rows = NULL;
	size_t cnt = 0, cap = 0;
	Dwarf_Die die;
	int err = dwarf_units__function_at(&t->units, vaddr, &function);

	*out = (struct line_row){.vaddr = vaddr};
	dwarf_budget__enter(&t->units.file.budget);
	if (function && function->begin == vaddr &&
	    dwarf_offdie(t->units.file.dwarf, function->die, &die))
		line_table__find_declared(t, &die, out);
	dwarf_budget__leave(&t->units.file.budget);
	if (err || out->file)
		return err;
	err = line_table__rows(t, vaddr, vaddr + 1, &rows, &cnt, &cap);
	if (!err)
		*out = rows[0];
	free(rows);
	return err;
}
