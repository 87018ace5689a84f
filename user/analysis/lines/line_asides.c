// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcov counts the arrivals at those basic blocks that a line owns, of whatever function, and
 * forgets the others that it appears in as well (accumulate_line_info() in GCC's gcov.c). So where
 * a lambda begins, that is no run of the statement around it. Functions that begin on one line, as
 * instances of a template do, have their lines each for themselves.
 */
#include "lines/line_asides.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plan/plan_lines.h"
#include "util/search.h"

static int order_of(const char *a_file, uint32_t a_line, const char *b_file, uint32_t b_line)
{
	if (a_file != b_file)
		return (uintptr_t)a_file < (uintptr_t)b_file ? -1 : 1;
	return a_line < b_line ? -1 : a_line > b_line;
}

static int place_order(const void *a, const void *b)
{
	const struct line_start *x = a, *y = b;

	return order_of(x->file, x->line, y->file, y->line);
}

static int function_order(const void *a, const void *b)
{
	const struct line_start *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

static int line_order(const void *a, const void *b)
{
	const struct plan_line *x = *(struct plan_line *const *)a,
			       *y = *(struct plan_line *const *)b;

	return order_of(x->file, x->line, y->file, y->line);
}

/* Keeps those that do not begin alone; by function. */
static size_t keep_groups(struct line_start *starts, size_t cnt)
{
	size_t kept = 0;

	if (!cnt)
		return 0;
	qsort(starts, cnt, sizeof(*starts), place_order);
	for (size_t from = 0, to; from < cnt; from = to) {
		for (to = from + 1; to < cnt && !place_order(&starts[from], &starts[to]);)
			to++;
		for (size_t i = from; to - from > 1 && i < to; i++)
			starts[kept++] = starts[i];
	}
	if (kept)
		qsort(starts, kept, sizeof(*starts), function_order);
	return kept;
}

static bool is_for_itself(const struct plan_line *l, const struct line_start *groups, size_t cnt)
{
	size_t at = LOWER_BOUND(cnt, i, groups[i].function < l->function);

	return at < cnt && groups[at].function == l->function && groups[at].file == l->file &&
	       groups[at].line <= l->line;
}

/* lines[0 .. cnt - 1] are one line of source. */
static void look_at(struct plan_line **lines, size_t cnt)
{
	bool owned = false;

	for (size_t i = 0; i < cnt; i++)
		owned |= lines[i]->owns;
	for (size_t i = 0; owned && i < cnt; i++)
		lines[i]->aside |= !lines[i]->owns;
}

int line_asides__find(struct plan_lines *l, size_t first, struct line_start *starts,
		      size_t starts_cnt)
{
	struct plan_line **lines = calloc(l->lines_cnt - first + 1, sizeof(*lines));
	size_t groups = keep_groups(starts, starts_cnt), cnt = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t i = first; i < l->lines_cnt; i++) {
		if (!is_for_itself(&l->lines[i], starts, groups))
			lines[cnt++] = &l->lines[i];
	}
	if (cnt)
		qsort(lines, cnt, sizeof(*lines), line_order);
	for (size_t from = 0, to; from < cnt; from = to) {
		for (to = from + 1; to < cnt && !line_order(&lines[from], &lines[to]);)
			to++;
		look_at(&lines[from], to - from);
	}
	free(lines);
	return 0;
}
