// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A unit's line table is read when the first address in the unit is asked for. libdw does the
 * reading, within the limits of dwarf_file.h.
 */
#include "dwarf/line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "dwarf/line_table_inside.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_NAMES (1u << 24) /* in headers of line tables */

int line_table__open(const struct elf_image *img, const char *root, struct line_table **out)
{
	struct line_table *t = calloc(1, sizeof(*t));
	int err = t ? dwarf_units__open(&t->units, img, root) : -ENOMEM;

	if (err) {
		line_table__free(t);
		return err;
	}
	t->names_left = MAX_NAMES;
	*out = t;
	return 0;
}

void line_table__free(struct line_table *t)
{
	if (!t)
		return;
	dwarf_units__close(&t->units);
	source_paths__clear(&t->paths);
	line_files__clear(&t->files);
	free(t);
}

bool line_table__is_split(const struct line_table *t)
{
	return t->units.split;
}

bool line_table__is_roots(const struct line_table *t)
{
	return t->units.file.is_roots;
}

bool line_table__may_read(struct line_table *t, uint32_t unit, Dwarf_Die *die)
{
	return dwarf_offdie(t->units.file.dwarf, t->units.items[unit].die, die) &&
	       dwarf_file__may_read_lines(&t->units.file, die);
}

static Dwarf_Lines *unit_lines(struct line_table *t, uint32_t unit, Dwarf_Die *die, size_t *cnt)
{
	Dwarf_Lines *lines = NULL;

	*cnt = 0;
	dwarf_budget__enter(&t->units.file.budget);
	if (!line_table__may_read(t, unit, die) || dwarf_getsrclines(die, &lines, cnt))
		lines = NULL;
	dwarf_budget__leave(&t->units.file.budget);
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
	const struct die_range *range = die_ranges__at(&t->units.ranges, begin);
	size_t lines_cnt = 0;
	Dwarf_Die die;
	Dwarf_Lines *lines = range ? unit_lines(t, range->unit, &die, &lines_cnt) : NULL;
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

	for (size_t u = 0; !err && u < t->units.cnt; u++) {
		size_t cnt;
		Dwarf_Die die;
		Dwarf_Lines *lines = unit_lines(t, u, &die, &cnt);

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
