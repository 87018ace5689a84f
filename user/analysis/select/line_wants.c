// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/line_wants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/pieces.h"
#include "dwarf/line_table.h"
#include "select/filter.h"
#include "select/line_spec.h"
#include "symbol/symtab.h"
#include "util/array.h"
#include "util/search.h"

struct look {
	struct line_wants *w;
	struct line_specs *specs;
};

static int look_at_row(void *ctx, const struct line_row *row, uint64_t end)
{
	struct look *look = ctx;
	struct line_wants *w = look->w;

	if (!line_specs__name_line(look->specs, row->file, row->line))
		return 0;
	if (w->cnt && w->ranges[w->cnt - 1].end == row->vaddr) {
		w->ranges[w->cnt - 1].end = end;
		return 0;
	}
	if (ARRAY_RESERVE(&w->ranges, w->cnt, &w->cap))
		return -ENOMEM;
	w->ranges[w->cnt++] = (struct line_range){row->vaddr, end};
	return 0;
}

static int range_order(const void *a, const void *b)
{
	const struct line_range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Units are in no order, and where the file is damaged they overlap. */
static void ranges_merge(struct line_wants *w)
{
	size_t kept = 0;

	if (!w->cnt)
		return;
	qsort(w->ranges, w->cnt, sizeof(*w->ranges), range_order);
	for (size_t i = 1; i < w->cnt; i++) {
		if (w->ranges[i].begin > w->ranges[kept].end)
			w->ranges[++kept] = w->ranges[i];
		else if (w->ranges[i].end > w->ranges[kept].end)
			w->ranges[kept].end = w->ranges[i].end;
	}
	w->cnt = kept + 1;
}

int line_wants__look(struct line_wants *w, struct line_specs *specs, const struct elf_image *img,
		     const char *root, const struct filter_object *obj)
{
	struct look look = {w, specs};
	bool files = line_specs__name_files(specs);
	int err = 0;

	if (w->looked)
		return 0;
	w->looked = true;
	w->named = line_specs__name_object(specs, obj);
	if (!files && !w->named)
		return 0;
	w->err = line_table__open(img, root, &w->table);
	if (!w->err && files)
		err = line_table__each(w->table, look_at_row, &look);
	ranges_merge(w);
	return w->err == -ENOMEM ? -ENOMEM : err;
}

void line_wants__clear(struct line_wants *w)
{
	line_table__free(w->table);
	free(w->ranges);
	w->table = NULL;
	w->ranges = NULL;
	w->cnt = w->cap = 0;
}

static bool has_wanted(const struct line_wants *w, const struct symbol *sym)
{
	size_t at = LOWER_BOUND(w->cnt, i, w->ranges[i].end <= sym->vaddr);

	return at < w->cnt && w->ranges[at].begin < sym->vaddr + sym->size;
}

/* The distance to the function's second line. */
static int second_line(struct line_wants *w, const struct symbol *sym, uint32_t *out)
{
	const struct line_row *first = NULL;
	struct line_row *rows = NULL;
	size_t cnt = 0, cap = 0;
	int err = 0;

	*out = UINT32_MAX;
	if (w->table && sym->size && sym->size <= MAX_FUNCTION_SIZE)
		err = line_table__rows(w->table, sym->vaddr, sym->vaddr + sym->size, &rows, &cnt,
				       &cap);
	for (size_t i = 0; !err && i < cnt; i++) {
		if (!rows[i].file)
			continue;
		if (!first)
			first = &rows[i];
		if (rows[i].line != first->line || strcmp(rows[i].file, first->file)) {
			*out = rows[i].vaddr - sym->vaddr;
			break;
		}
	}
	free(rows);
	return err;
}

int line_wants__mark(struct line_wants *w, struct line_specs *specs,
		     const struct filter_object *obj, const struct symtab *tab, uint32_t *firsts)
{
	size_t cnt = symtab__count(tab);
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct symbol *sym = symtab__at(tab, i);
		bool is_piece = sym->piece_of != SYMTAB_NONE;

		if (sym->kind == SYMBOL_NOTYPE && !is_piece)
			continue;
		if (has_wanted(w, sym))
			firsts[is_piece ? sym->piece_of : i] = UINT32_MAX;
		if (!is_piece && w->named && line_specs__name_function(specs, obj, sym))
			firsts[i] = UINT32_MAX;
	}
	for (size_t i = 0; !err && i < cnt; i++) {
		if (firsts[i])
			err = second_line(w, symtab__at(tab, i), &firsts[i]);
	}
	return err;
}
