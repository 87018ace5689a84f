// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "sink/sink.h"
#include "top/canvas.h"
#include "top/cells.h"
#include "top/sessions_view.h"
#include "top/state.h"
#include "util/text.h"

#define NAME_MIN    20 /* columns of a name; for it, others are left out */
#define NAME_USUAL  40 /* what is more is the history's */
#define HISTORY_MIN 6
#define EDGES_SHOWN 8  /* callers, and callees */
#define BAR_MAX	    40 /* columns of the longest bar of a distribution */

static size_t rows_end(const struct canvas *c)
{
	return c->rows - VIEW_ROWS_BELOW;
}

/* Columns of the tables; where there is little room the last ones are left out first. */
static const struct {
	const char *heading;
	size_t width;
	enum top_sort sort;
} columns[] = {
	{"   SELF", 7, SORT_SELF}, {"  TOTAL", 8, SORT_TOTAL}, {"   CALLS/S", 11, SORT_CALLS},
	{"    AVG", 8, SORT_AVG},  {"    P99", 8, SORT_P99},   {" WAIT/S", 8, SORT_WAIT},
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))

struct layout {
	size_t cnt;	/* columns that there is room for */
	size_t history; /* columns of the history; 0: none */
	size_t name;	/* where names begin */
};

static struct layout layout_of(const struct top *t, const struct canvas *c)
{
	struct layout l = {0};
	size_t used = 0, left;

	while (l.cnt < COLUMNS && used + columns[l.cnt].width + 2 + NAME_MIN <= c->columns)
		used += columns[l.cnt++].width;
	left = c->columns > used + 2 + NAME_MIN ? c->columns - used - 2 - NAME_MIN : 0;
	if (t->view == VIEW_FUNCTIONS && left >= HISTORY_MIN + 2) {
		size_t wide = left > NAME_USUAL - NAME_MIN ? left - (NAME_USUAL - NAME_MIN) : 0;

		l.history = wide > HISTORY_MIN + 4 ? wide - 2 : HISTORY_MIN + 2;
		l.history = l.history < left - 2 ? l.history : left - 2;
		l.history = l.history < HISTORY_LEN ? l.history : HISTORY_LEN;
	}
	l.name = used + 2 + (l.history ? l.history + 2 : 0);
	return l;
}

static void draw_headings(const struct top *t, struct canvas *c, const struct layout *l)
{
	size_t row = VIEW_FIRST_ROW, column = 0;

	canvas__style_row(c, row, CANVAS_HEADING);
	for (size_t i = 0; i < l->cnt; i++) {
		const char *heading = columns[i].heading;
		size_t blank = strspn(heading, " "), at = column + (i ? 1 : 0) + blank;

		canvas__put(c, row, at,
			    t->sort == columns[i].sort ? CANVAS_SELECTED : CANVAS_HEADING,
			    heading + blank);
		column += columns[i].width;
	}
	if (l->history)
		canvas__put(c, row, column + 2, CANVAS_HEADING, "HISTORY");
	canvas__put(c, row, l->name, t->sort == SORT_NAME ? CANVAS_SELECTED : CANVAS_HEADING,
		    t->view == VIEW_THREADS ? "THREAD" : "FUNCTION");
}

static void draw_row(const struct top *t, struct canvas *c, const struct layout *l, size_t row,
		     const struct top_row *r, bool selected)
{
	enum canvas_style style = selected	   ? CANVAS_SELECTED
				  : r->self >= 0.1 ? CANVAS_BOLD
						   : CANVAS_PLAIN;
	char spark[HISTORY_SPARK];
	size_t column = 0;

	if (selected)
		canvas__style_row(c, row, style);
	for (size_t i = 0; i < l->cnt; column += columns[i++].width) {
		size_t at = column + (i ? 1 : 0);

		if (columns[i].sort == SORT_SELF)
			cell__share(c, row, at, style, r->self, r->estimated);
		else if (columns[i].sort == SORT_TOTAL)
			cell__share(c, row, at, style, r->total, r->estimated);
		else if (columns[i].sort == SORT_CALLS)
			cell__rate(c, row, at, style, r->calls, r->calls_estimated);
		else if (columns[i].sort == SORT_AVG)
			cell__duration(c, row, at, style, r->avg_ns);
		else if (columns[i].sort == SORT_P99)
			cell__duration(c, row, at, style, r->p99_ns);
		else
			cell__duration(c, row, at, style, (uint64_t)r->wait);
	}
	if (l->history)
		canvas__put(c, row, column + 2, style,
			    history__spark(&t->history, r->id, l->history, spark));
	column = cell__name(c, row, l->name, style, r->name, r->dropped || r->chosen);
	if (r->dropped || r->chosen)
		canvas__put(c, row, column, style, r->dropped ? "*" : "+");
}

static void draw_nothing(const struct top *t, struct canvas *c)
{
	if (!t->rows.cnt)
		canvas__put(c, VIEW_FIRST_ROW + 1, 0, CANVAS_DIM,
			    t->search[0] ? "nothing of that name has run (Esc shows all)"
					 : "nothing has run");
}

static int draw_table(struct top *t, struct canvas *c)
{
	const struct layout l = layout_of(t, c);
	size_t first = VIEW_FIRST_ROW + 1, at;

	draw_headings(t, c, &l);
	at = state__scroll(t);
	for (size_t i = t->scroll; i < t->rows.cnt && first + i - t->scroll < rows_end(c); i++)
		draw_row(t, c, &l, first + i - t->scroll, &t->rows.items[i], i == at);
	draw_nothing(t, c);
	return 0;
}

/* "1.2 GB", in powers of 1024. */
static const char *text_memory(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		value /= 1024;
	if (bytes)
		snprintf(buf, size, value < 10 && unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* Processes of the machine: shares of one CPU, threads, memory. */
static int draw_processes(struct top *t, struct canvas *c)
{
	static const struct {
		const char *heading;
		size_t column;
		enum top_sort sort;
	} titles[] = {{"CPU", 5, SORT_SELF},
		      {"MEMORY", 11, SORT_TOTAL},
		      {"THREADS", 18, SORT_CALLS},
		      {"PROCESS", 36, SORT_NAME}};
	size_t first = VIEW_FIRST_ROW + 1, at = state__scroll(t);

	canvas__style_row(c, VIEW_FIRST_ROW, CANVAS_HEADING);
	canvas__put(c, VIEW_FIRST_ROW, 31, CANVAS_HEADING, "PID");
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		canvas__put(c, VIEW_FIRST_ROW, titles[i].column,
			    t->sort == titles[i].sort ? CANVAS_SELECTED : CANVAS_HEADING,
			    titles[i].heading);
	for (size_t i = t->scroll; i < t->rows.cnt && first + i - t->scroll < rows_end(c); i++) {
		const struct top_row *r = &t->rows.items[i];
		size_t row = first + i - t->scroll;
		enum canvas_style style = i == at	   ? CANVAS_SELECTED
					  : r->self >= 0.1 ? CANVAS_BOLD
							   : CANVAS_PLAIN;
		char memory[32], threads[32] = "-";

		if (i == at)
			canvas__style_row(c, row, style);
		if (r->threads)
			snprintf(threads, sizeof(threads), "%u", r->threads);
		cell__share(c, row, 1, style, r->self, true);
		canvas__printf(c, row, 9, style, "%8s %7s %8u",
			       text_memory(r->memory, memory, sizeof(memory)), threads, r->id);
		cell__name(c, row, 36, style, r->name, false);
	}
	draw_nothing(t, c);
	return 0;
}

/* Draws the lines of a text from t->scroll on. */
static void draw_text(struct top *t, struct canvas *c, const char *text)
{
	size_t lines = 0, row;
	const char *end;

	for (const char *at = text; *at; at = end + (*end == '\n')) {
		char line[4 * CANVAS_COLUMNS_MAX + 1];
		size_t len;

		end = strchrnul(at, '\n');
		len = (size_t)(end - at) < sizeof(line) - 1 ? (size_t)(end - at) : sizeof(line) - 1;
		row = VIEW_FIRST_ROW + lines - t->scroll;
		if (lines >= t->scroll && row < rows_end(c)) {
			memcpy(line, at, len);
			line[len] = '\0';
			canvas__put(c, row, 0, CANVAS_PLAIN, line);
		}
		lines++;
	}
	t->lines = lines;
}

/* The tree as -f tree has it. */
static int draw_tree(struct top *t, struct canvas *c)
{
	struct sink_options opts = {.columns = c->columns, .live = true};
	char *text = NULL;
	size_t len;
	FILE *out;
	int err;

	if (!t->shown)
		return 0;
	out = open_memstream(&text, &len);
	err = out ? sink_tree.write(t->shown, &opts, out) : -ENOMEM;
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err)
		draw_text(t, c, text);
	free(text);
	return err;
}

/* "*", "+" or "", as behind the names of the table. */
static const char *mark_of(const struct top *t, uint32_t function)
{
	return t->drops[function].dropped ? "*" : t->shown->functions[function].chosen ? "+" : "";
}

static void print_edges(FILE *out, const struct top *t, const char *title,
			const struct top_edge *edges, int64_t cnt)
{
	const struct profile *p = t->shown;
	double seconds = (double)p->duration_ns / 1e9;
	char time[32], calls[32];

	fprintf(out, "\n%s\n", title);
	for (int64_t i = 0; i < cnt && i < EDGES_SHOWN; i++) {
		const struct top_edge *e = &edges[i];

		text_count(seconds > 0 ? (uint64_t)((double)e->calls / seconds + 0.5) : 0, calls,
			   sizeof(calls));
		fprintf(out, "  %10s  %9s  %s%s\n", e->calls ? calls : "-",
			text_duration(e->ns, time, sizeof(time)),
			e->function == TOP_OUTERMOST ? "(the thread's begin)"
						     : p->functions[e->function].name,
			e->function == TOP_OUTERMOST ? "" : mark_of(t, e->function));
	}
	if (cnt > EDGES_SHOWN)
		fprintf(out, "  ... %lld more\n", (long long)cnt - EDGES_SHOWN);
	if (!cnt)
		fputs("  none\n", out);
}

static void print_distribution(FILE *out, const struct profile *p, uint32_t function)
{
	const struct distribution d = distribution__of(p, function);
	uint64_t calls[64] = {0}, most = 0;
	char low[32], high[32], cnt[32];

	fputs("\nhow long calls took, in the last seconds\n", out);
	for (size_t i = 0; i < d.cnt; i++) {
		uint64_t ns = bucket__low(d.buckets[i].bucket);
		size_t power = ns ? 63 - __builtin_clzll(ns) : 0;

		calls[power] += d.buckets[i].calls;
		most = calls[power] > most ? calls[power] : most;
	}
	for (size_t i = 0; i < 64; i++) {
		if (!calls[i])
			continue;
		fprintf(out, "  %7s up to %7s  %10s  ",
			text_duration(i ? 1ull << i : 0, low, sizeof(low)),
			text_duration(1ull << (i + 1), high, sizeof(high)),
			text_count(calls[i], cnt, sizeof(cnt)));
		for (uint64_t k = 0; k < (calls[i] * BAR_MAX + most - 1) / most; k++)
			fputs("█", out);
		fputc('\n', out);
	}
	if (!most)
		fputs("  no call has ended\n", out);
}

/* The function's name, its file, and since when its calls are counted. */
static void print_title(FILE *out, const struct top *t)
{
	const struct profile_function *f = &t->shown->functions[t->function];
	const struct top_drop *d = &t->drops[t->function];
	char time[32];

	fputs(f->name, out);
	if (d->dropped)
		fputs("  (dropped to keep to the budget)", out);
	else if (d->back_ns)
		fprintf(out, "  (exact again for %s)",
			text_duration(t->until_ns - d->back_ns, time, sizeof(time)));
	fprintf(out, "\n%s\n", f->module ?: "");
	if (!f->stats.total_ns)
		fputs("has not run in the last seconds\n", out);
}

/* One function: its callers, its callees, its distribution. */
static int draw_function(struct top *t, struct canvas *c)
{
	const struct profile *p = t->shown;
	struct top_edge *callers = NULL, *callees = NULL;
	int64_t callers_cnt, callees_cnt;
	char *text = NULL;
	size_t len;
	FILE *out;
	int err = 0;

	if (!p || t->function >= p->functions_cnt)
		return 0;
	callers_cnt = top_rows__callers(p, t->function, &callers);
	callees_cnt = top_rows__callees(p, t->function, &callees);
	out = open_memstream(&text, &len);
	if (callers_cnt < 0 || callees_cnt < 0 || !out) {
		err = -ENOMEM;
	} else {
		print_title(out, t);
		print_edges(out, t, "called by          CALLS/S       TIME", callers, callers_cnt);
		print_edges(out, t, "calls", callees, callees_cnt);
		print_distribution(out, p, t->function);
	}
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err)
		draw_text(t, c, text);
	free(text);
	free(callers);
	free(callees);
	return err;
}

static const char help[] =
	"f  functions   t  tree of calls   H  threads   s  sessions   ?  this help\n"
	"\n"
	"up, down, PgUp, PgDn, Home, End   select a row, or move the text\n"
	"left, right, < and >              sort by another column\n"
	"Enter     zooms into a function: it and what it calls become exact, others pay\n"
	"          for it; shows its callers, callees, and how long calls took\n"
	"!         when zoomed: what it calls is exact whatever that costs\n"
	"Esc       lets go of it, goes back, or shows all again after a search\n"
	"/         shows only names that have a word in them\n"
	"space     freezes what is shown, and goes on\n"
	"p         switches tracing off: the target runs as if untraced; and on again\n"
	"S         writes a recording of the last minute (proftrace report shows it)\n"
	"q         ends it\n"
	"Of the whole machine (no -p) processes are shown, from samples alone; CPU is the\n"
	"share of one processor. Enter traces one; Esc there leads back.\n"
	"\n"
	"Figures are of the last five seconds. SELF and TOTAL are shares of the target's\n"
	"CPU time (with -F, of that of the functions it names): of the function itself,\n"
	"and with what it calls. CALLS/S, AVG and P99 are of its calls, WAIT/S is what it\n"
	"waits itself in each second. HISTORY is SELF in the last minute, its highest\n"
	"character being the most that it had. Sessions are calls of the functions that\n"
	"--session names, such as a request's handler: how many there are and how long\n"
	"they take; WAITING is the share of that time that they are off the CPU.\n"
	"\n"
	"~  estimated, from samples of CPU time or from bursts\n"
	"*  dropped to keep to the budget: calls are not counted any more\n"
	"+  exact for the sake of the zoom\n"
	"-  has no probe, so nobody counts its calls\n";

int views__draw(struct top *t, struct canvas *c)
{
	switch (t->view) {
	case VIEW_PROCESSES:
		return draw_processes(t, c);
	case VIEW_TREE:
		return draw_tree(t, c);
	case VIEW_SESSIONS:
		return sessions_view__draw(t, c);
	case VIEW_FUNCTION:
		return draw_function(t, c);
	case VIEW_HELP:
		draw_text(t, c, help);
		return 0;
	default:
		return draw_table(t, c);
	}
}
