// SPDX-License-Identifier: GPL-2.0-or-later
#include <dwarf.h>
#include <errno.h>

#include "dwarf/dwarf_functions.h"
#include "dwarf/function_traits.h"
#include "dwarf/line_table.h"
#include "dwarf/line_table_inside.h"
#include "util/array.h"

#define MAX_OF_DIE  4096       /* ranges of one function or call */
#define MAX_DIES    (1u << 25) /* looked at */
#define MAX_NESTING 64	       /* of scopes and inlined calls, of namespaces and classes */
#define MAX_LABELS  4096       /* in one function */
#define MAX_INLINES (1u << 20) /* of a function */
#define MAX_COVER   64	       /* inlined calls that the average byte of a function may be in */

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

/* State of a walk over DIEs, as it is handed down to children. */
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
	} while (!err && dwarf_file__sibling(&t->file, &die));
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
	return die_ranges__add(&g->t->units[g->unit].functions, die, g->unit, MAX_OF_DIE);
}

static int load_functions(struct line_table *t, uint32_t unit)
{
	struct gathering g = {t, unit};
	struct line_unit *u = &t->units[unit];
	Dwarf_Die die;
	int err = 0;

	if (u->functions_read)
		return 0;
	u->functions_read = true;
	dwarf_budget__enter(&t->file.budget);
	if (dwarf_offdie(t->file.dwarf, u->die, &die))
		err = walk_dies(t, &die, (struct scope){0}, 0, gather_function, &g);
	dwarf_budget__leave(&t->file.budget);
	die_ranges__sort(&u->functions);
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

/* The function that has code at `vaddr`; *out NULL: none is described. Returns 0 or -ENOMEM. */
static int function_at(struct line_table *t, uint64_t vaddr, const struct die_range **out)
{
	const struct die_range *unit = die_ranges__at(&t->ranges, vaddr);
	int err = unit ? load_functions(t, unit->unit) : 0;

	*out = unit && !err ? die_ranges__at(&t->units[unit->unit].functions, vaddr) : NULL;
	return err;
}

int line_table__inlined(struct line_table *t, const struct line_piece *pieces, size_t cnt,
			struct line_inlines *out)
{
	struct painting p = {
		.t = t, .pieces = pieces, .pieces_cnt = cnt, .out = out, .base = out->cnt};
	const struct die_range *function = NULL;
	Dwarf_Die die;
	int err = cnt ? function_at(t, pieces[0].vaddr, &function) : 0;

	if (err || !function)
		return err;
	for (size_t i = 0; i < cnt; i++)
		p.budget += (uint64_t)pieces[i].size * MAX_COVER;
	dwarf_budget__enter(&t->file.budget);
	if (!line_table__may_read(t, function->unit, &die) ||
	    dwarf_getsrcfiles(&die, &p.files, &p.files_cnt))
		p.files = NULL;
	if (dwarf_offdie(t->file.dwarf, function->die, &die))
		err = walk_dies(t, &die, (struct scope){0}, 0, paint_die, &p);
	dwarf_budget__leave(&t->file.budget);
	return err;
}

int line_table__traits(struct line_table *t, uint64_t vaddr, struct function_traits *out)
{
	const struct die_range *function;
	Dwarf_Die die, unit;
	int err = function_at(t, vaddr, &function);

	*out = (struct function_traits){0};
	if (!function)
		return err;
	dwarf_budget__enter(&t->file.budget);
	if (dwarf_offdie(t->file.dwarf, function->die, &die) &&
	    dwarf_offdie(t->file.dwarf, t->units[function->unit].die, &unit))
		*out = function_traits__of(&t->file, &die, &unit);
	if (out->file)
		out->file = source_paths__get(&t->paths, &unit, NULL, out->file);
	dwarf_budget__leave(&t->file.budget);
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

		dwarf_budget__enter(&t->file.budget);
		if (!line_table__may_read(t, u, &die) ||
		    dwarf_getsrcfiles(&die, &s.files, &s.files_cnt))
			s.files = NULL;
		if (dwarf_offdie(t->file.dwarf, t->units[u].die, &die))
			err = walk_dies(t, &die, (struct scope){0}, 0, search_die, &s);
		dwarf_budget__leave(&t->file.budget);
	}
	return err;
}
