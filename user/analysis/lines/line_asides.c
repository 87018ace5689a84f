// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a lambda begins on the line of another function's statement, its arrivals there are no runs
 * of that statement. Functions that begin on one line, as instances of a template do, are equals.
 */
#include "lines/line_asides.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plan/plan_lines.h"
#include "util/search.h"

static int line_order(const void *a, const void *b)
{
	const struct plan_line *x = *(struct plan_line *const *)a,
			       *y = *(struct plan_line *const *)b;

	if (x->file != y->file)
		return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Whether the line's function begins on it. */
static bool is_beginning(const struct plan_line *l, const struct line_start *starts, size_t cnt)
{
	size_t at = LOWER_BOUND(cnt, i, starts[i].function < l->function);

	return at < cnt && starts[at].function == l->function && starts[at].file == l->file &&
	       starts[at].line == l->line;
}

/* lines[0 .. cnt - 1] are one line of source. */
static void look_at(struct plan_line **lines, size_t cnt, const struct line_start *starts,
		    size_t starts_cnt)
{
	bool within = false;

	for (size_t i = 0; i < cnt; i++)
		within |= !is_beginning(lines[i], starts, starts_cnt);
	for (size_t i = 0; within && i < cnt; i++)
		lines[i]->aside |= is_beginning(lines[i], starts, starts_cnt);
}

int line_asides__find(struct plan_lines *l, size_t first, const struct line_start *starts,
		      size_t starts_cnt)
{
	size_t cnt = l->lines_cnt - first;
	struct plan_line **lines = calloc(cnt + 1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		lines[i] = &l->lines[first + i];
	qsort(lines, cnt, sizeof(*lines), line_order);
	for (size_t from = 0, to; from < cnt; from = to) {
		for (to = from + 1; to < cnt && !line_order(&lines[from], &lines[to]);)
			to++;
		look_at(&lines[from], to - from, starts, starts_cnt);
	}
	free(lines);
	return 0;
}
