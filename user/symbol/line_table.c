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

#include "symbol/elf_inside.h"
#include "symbol/line_table_inside.h"
#include "util/array.h"
#include "util/search.h"

/* Bytes of line tables, each of which may become a row of seventy: compilers make about one for
 * each byte of code. */
#define MAX_TABLES  (256u << 20)
#define MIN_TABLES  (1u << 20) /* granted to every file */
#define TABLE_SHARE 8	       /* ... and for each byte that the file may have of code */
#define MAX_UNITS   (1u << 20)

static int add_unit(struct line_table *t, Dwarf_Die *die)
{
	if (ARRAY_RESERVE(&t->units, t->units_cnt, &t->units_cap))
		return -ENOMEM;
	t->units[t->units_cnt++] = (struct line_unit){.die = dwarf_dieoffset(die)};
	t->split |= dwarf_hasattr(die, DW_AT_dwo_name) || dwarf_hasattr(die, DW_AT_GNU_dwo_name);
	/* One for each inline function that the linker may have thrown away. */
	return die_ranges__add(&t->ranges, die, t->units_cnt - 1, DIE_RANGES_MAX);
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
	die_ranges__sort(&t->ranges);
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

bool line_table__is_roots(const struct line_table *t)
{
	return t->file.is_roots;
}

static Dwarf_Lines *unit_lines(struct line_table *t, const struct line_unit *u, Dwarf_Die *die,
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
	const struct die_range *range = die_ranges__at(&t->ranges, begin);
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
