// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/sessions_view.h"

#include <stddef.h>

#include "top/canvas.h"
#include "top/cells.h"
#include "top/state.h"

#define NO_SORT SORTS /* of a column by which rows are not sorted */
#define NAME	54    /* where names begin */

static const struct {
	const char *heading;
	size_t column;
	enum top_sort sort;
} titles[] = {
	{"SESSIONS/S", 0, SORT_CALLS}, {"AVG", 15, SORT_AVG}, {"P50", 23, NO_SORT},
	{"P99", 31, SORT_P99},	       {"MAX", 39, NO_SORT},  {"WAITING", 43, SORT_WAIT},
	{"SESSION", NAME, SORT_NAME},
};

static void draw_headings(const struct top *t, struct canvas *c)
{
	canvas__style_row(c, VIEW_FIRST_ROW, CANVAS_HEADING);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		canvas__put(c, VIEW_FIRST_ROW, titles[i].column,
			    t->sessions_sort == titles[i].sort ? CANVAS_SELECTED : CANVAS_HEADING,
			    titles[i].heading);
}

static void draw_row(struct canvas *c, size_t row, const struct top_row *r, bool selected)
{
	enum canvas_style style = selected ? CANVAS_SELECTED : CANVAS_PLAIN;
	size_t end;

	if (selected)
		canvas__style_row(c, row, style);
	cell__rate(c, row, 0, style, r->calls, r->calls_estimated);
	cell__duration(c, row, 11, style, r->avg_ns);
	cell__duration(c, row, 19, style, r->p50_ns);
	cell__duration(c, row, 27, style, r->p99_ns);
	cell__duration(c, row, 35, style, r->max_ns);
	cell__share(c, row, 43, style, r->wait, false);
	end = cell__name(c, row, NAME, style, r->name, r->dropped || r->chosen);
	if (r->dropped || r->chosen)
		canvas__put(c, row, end, style, r->dropped ? "*" : "+");
}

int sessions_view__draw(struct top *t, struct canvas *c)
{
	size_t first = VIEW_FIRST_ROW + 1, at = state__scroll(t);

	draw_headings(t, c);
	for (size_t i = t->scroll; i < t->rows.cnt; i++) {
		if (first + i - t->scroll < c->rows - VIEW_ROWS_BELOW)
			draw_row(c, first + i - t->scroll, &t->rows.items[i], i == at);
	}
	if (!t->sessions_cnt)
		canvas__put(c, first, 0, CANVAS_DIM,
			    "none is named: proftrace top --session 'handle_*' -p NAME");
	else if (!t->rows.cnt)
		canvas__put(c, first, 0, CANVAS_DIM,
			    t->search[0] ? "no session of that name (Esc shows all)"
					 : "no function of that name has been called so far");
	return 0;
}
