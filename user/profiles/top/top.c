// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first lines tell of the target, then comes the view, and in the last line the keys, what is
 * being searched for, or a message. A row stays selected as the table is sorted anew, as it is
 * known by its function or thread.
 */
#include "top/top.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "top/canvas.h"
#include "top/state.h"
#include "top/views.h"
#include "util/text.h"

#define LEAST_ROWS 4 /* of the screen: the head, a row, and the foot */

struct top *top__new(const char *whom)
{
	struct top *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	snprintf(t->whom, sizeof(t->whom), "%s", whom);
	t->selected = t->zoomed = NOTHING_SELECTED;
	t->view = t->from = VIEW_FUNCTIONS;
	t->sessions_sort = SORT_P99;
	t->page = 1;
	return t;
}

struct top *top__machine(const char *whom)
{
	struct top *t = top__new(whom);

	if (!t)
		return NULL;
	t->machine = true;
	t->view = VIEW_PROCESSES;
	return t;
}

void top__sessions(struct top *t, char *const *globs, size_t cnt)
{
	t->sessions = globs;
	t->sessions_cnt = cnt;
}

pid_t top__opened(const struct top *t)
{
	return t->opened;
}

void top__nest(struct top *t)
{
	t->nested = true;
}

void top__free(struct top *t)
{
	if (!t)
		return;
	profile__free(t->shown);
	top_rows__clear(&t->rows);
	history__fini(&t->history);
	free(t->drops);
	free(t);
}

/* Notes the functions that are dropped to keep to the budget, or were. */
static int note_drops(struct top *t, const struct profile *now)
{
	struct top_drop *drops = calloc(now->functions_cnt + 1, sizeof(*drops));

	if (!drops)
		return -ENOMEM;
	for (size_t i = 0; i < now->drops_cnt; i++)
		drops[now->drops[i].function] =
			(struct top_drop){!now->drops[i].back_ns, now->drops[i].back_ns};
	free(t->drops);
	t->drops = drops;
	t->until_ns = now->duration_ns;
	return 0;
}

static enum top_sort *sort_of(struct top *t)
{
	return t->view == VIEW_SESSIONS ? &t->sessions_sort : &t->sort;
}

/* Whether its rows are functions. */
static bool has_functions(enum top_view view)
{
	return view == VIEW_FUNCTIONS || view == VIEW_SESSIONS;
}

/* Makes the rows of the table that is shown. */
static int list_rows(struct top *t)
{
	int err = 0;

	top_rows__clear(&t->rows);
	if (!t->shown)
		return 0;
	if (t->view == VIEW_FUNCTIONS)
		err = top_rows__functions(&t->rows, t->shown, t->search);
	else if (t->view == VIEW_PROCESSES)
		err = top_rows__processes(&t->rows, t->shown, t->search);
	else if (t->view == VIEW_THREADS)
		err = top_rows__threads(&t->rows, t->shown, t->search);
	else if (t->view == VIEW_SESSIONS)
		err = top_rows__sessions(&t->rows, t->shown, t->search, t->sessions,
					 t->sessions_cnt);
	if (err)
		return err;
	for (size_t i = 0; i < t->rows.cnt && has_functions(t->view); i++) {
		struct top_row *row = &t->rows.items[i];

		row->dropped = t->drops[row->id].dropped;
		row->chosen = t->shown->functions[row->id].chosen;
	}
	top_rows__sort(&t->rows, *sort_of(t));
	return 0;
}

int top__take(struct top *t, const struct profile *now, struct profile *delta)
{
	int err = history__add(&t->history, now);

	if (!err)
		err = note_drops(t, now);
	if (err || t->frozen) {
		profile__free(delta);
		return err;
	}
	profile__free(t->shown);
	t->shown = delta;
	return 0;
}

void top__tell_off(struct top *t, bool off)
{
	t->off = off;
}

void top__message(struct top *t, const char *message)
{
	snprintf(t->message, sizeof(t->message), "%s", message);
}

/* The place of the selected row in the table; 0 if there is none any more. */
static size_t selected_at(const struct top *t)
{
	for (size_t i = 0; i < t->rows.cnt; i++) {
		if (t->rows.items[i].id == t->selected)
			return i;
	}
	return 0;
}

/* Moves the selection, or what a view without rows shows. */
static void move(struct top *t, long by)
{
	size_t at = t->rows.cnt ? selected_at(t) : t->scroll;
	size_t last = t->rows.cnt ? t->rows.cnt - 1 : t->lines > t->page ? t->lines - t->page : 0;

	/* The first row is shown as selected as long as nobody has chosen one. */
	at = by < 0 ? (at > (size_t)-by ? at - (size_t)-by : 0) : at + (size_t)by;
	at = at < last ? at : last;
	if (t->rows.cnt)
		t->selected = t->rows.items[at].id;
	else
		t->scroll = at;
}

static void show(struct top *t, enum top_view view)
{
	if (t->view == view)
		return;
	t->view = view;
	t->scroll = t->lines = 0;
	t->selected = NOTHING_SELECTED;
}

static enum top_wish open_selected(struct top *t)
{
	bool no_code;

	if (t->rows.cnt && t->view == VIEW_PROCESSES) {
		t->opened = (pid_t)t->rows.items[selected_at(t)].id;
		return TOP_OPEN;
	}
	if (!t->rows.cnt || !has_functions(t->view))
		return TOP_NOTHING;
	t->function = t->rows.items[selected_at(t)].id;
	t->from = t->view;
	no_code = t->rows.items[selected_at(t)].no_code;
	show(t, VIEW_FUNCTION);
	if (t->machine || no_code)
		return TOP_NOTHING;
	t->zoomed = t->function;
	return TOP_ZOOM;
}

/* Out of the function, of what was searched for, or to the first view: one after the other. */
static enum top_wish back(struct top *t)
{
	const enum top_view first = t->machine ? VIEW_PROCESSES : VIEW_FUNCTIONS;
	const enum top_view from = t->view;

	if (from == VIEW_FUNCTION) {
		show(t, t->from);
		t->selected = t->function;
	} else if (from != first) {
		show(t, first);
		return TOP_NOTHING;
	}
	if (t->zoomed != NOTHING_SELECTED) {
		t->zoomed = NOTHING_SELECTED;
		return TOP_RELEASE;
	}
	if (from == first && !t->search[0] && t->nested)
		return TOP_LEAVE;
	if (from == first)
		t->search[0] = '\0';
	return TOP_NOTHING;
}

/* A key while what is searched for is being typed. */
static void edit(struct top *t, uint32_t key)
{
	size_t len = strlen(t->search);

	if (key == TOP_KEY_ENTER || key == TOP_KEY_ESCAPE) {
		t->editing = false;
		if (key == TOP_KEY_ESCAPE)
			t->search[0] = '\0';
	} else if (key == TOP_KEY_BACKSPACE) {
		t->search[len ? len - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 0x7f && len + 1 < sizeof(t->search)) {
		t->search[len] = (char)key;
		t->search[len + 1] = '\0';
	}
}

static const struct {
	char key;
	enum top_view view;
} view_keys[] = {{'f', VIEW_FUNCTIONS}, {'t', VIEW_TREE}, {'H', VIEW_THREADS},
		 {'s', VIEW_SESSIONS},	{'?', VIEW_HELP}, {'h', VIEW_HELP}};

/* Processes have no calls and no waits, of sessions no CPU time is shown. */
static bool has_column(enum top_view view, enum top_sort sort)
{
	if (view == VIEW_PROCESSES)
		return sort < SORT_AVG || sort > SORT_WAIT;
	return view != VIEW_SESSIONS || sort >= SORT_CALLS;
}

/* The next column, or the one before. */
static void sort_by_next(struct top *t, unsigned int step)
{
	enum top_sort *sort = sort_of(t);

	do
		*sort = (*sort + step) % SORTS;
	while (!has_column(t->view, *sort));
}

static void press(struct top *t, uint32_t key)
{
	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		move(t, -1);
		break;
	case TOP_KEY_DOWN:
	case 'j':
		move(t, 1);
		break;
	case TOP_KEY_PAGE_UP:
		move(t, -(long)t->page);
		break;
	case TOP_KEY_PAGE_DOWN:
		move(t, (long)t->page);
		break;
	case TOP_KEY_HOME:
		move(t, -(long)(UINT32_MAX / 2));
		break;
	case TOP_KEY_END:
		move(t, UINT32_MAX / 2);
		break;
	case TOP_KEY_LEFT:
	case '<':
		sort_by_next(t, SORTS - 1);
		break;
	case TOP_KEY_RIGHT:
	case '>':
		sort_by_next(t, 1);
		break;
	case '/':
		t->editing = has_functions(t->view) || t->view == VIEW_THREADS ||
			     t->view == VIEW_PROCESSES;
		break;
	case ' ':
		t->frozen = !t->frozen;
		break;
	default:
		for (size_t i = 0; i < sizeof(view_keys) / sizeof(*view_keys); i++) {
			if (key == (uint32_t)view_keys[i].key)
				show(t, view_keys[i].view);
		}
	}
}

enum top_wish top__key(struct top *t, uint32_t key)
{
	t->message[0] = '\0';
	if (t->editing) {
		edit(t, key);
		return TOP_NOTHING;
	}
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case 'p':
		return TOP_SWITCH;
	case 'S':
		return TOP_SAVE;
	case TOP_KEY_ENTER:
		return open_selected(t);
	case '!':
		return t->zoomed == NOTHING_SELECTED ? TOP_NOTHING : TOP_ZOOM_ALL;
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		return back(t);
	default:
		press(t, key);
		return TOP_NOTHING;
	}
}

uint32_t top__zoomed(const struct top *t)
{
	return t->zoomed;
}

/* Processes that have had CPU time of late. */
static size_t count_running(const struct profile *p)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->threads_cnt; i++)
		cnt += p->threads[i].first_root != 0;
	return cnt;
}

static void draw_head(struct top *t, struct canvas *c)
{
	const struct profile *p = t->shown;
	double seconds = p ? (double)p->duration_ns / 1e9 : 0;
	uint64_t own = p ? accounting__own_ns(&p->accounting) : 0, seen;
	const char *state = t->off ? "  OFF" : t->frozen ? "  FROZEN" : "";
	char calls[32];
	size_t column = canvas__printf(c, 0, 0, CANVAS_BOLD, "%s", t->whom);

	column = canvas__put(c, 0, column, CANVAS_WARN, state);
	if (!p || seconds <= 0) {
		canvas__put(c, 0, column + 2, CANVAS_DIM, "nothing has been seen yet");
		return;
	}
	seen = top_rows__cpu_ns(p);
	column = canvas__printf(c, 0, column + 2, CANVAS_PLAIN, "CPU %.0f%%",
				(double)(own > seen ? own : seen) / 1e7 / seconds);
	if (t->machine) {
		canvas__printf(c, 0, column + 2, CANVAS_PLAIN, "%zu processes have run",
			       count_running(p));
		return;
	}
	text_count((uint64_t)((double)p->accounting.entered / seconds), calls, sizeof(calls));
	column = canvas__printf(c, 0, column + 2, CANVAS_PLAIN, "%s calls/s traced", calls);
	if (p->accounting.cpu_ns)
		canvas__printf(c, 0, column + 2, CANVAS_PLAIN, "probes cost %.1f%%",
			       100 * (double)p->accounting.probe_ns /
				       (double)((own > seen ? own : seen) + 1));
}

/* Draws the line on the function that is looked at closely. */
static void draw_zoom(const struct top *t, struct canvas *c)
{
	const struct profile *p = t->shown;
	size_t exact = 0, left = 0, column;
	char text[64];

	if (!p || t->zoomed >= p->functions_cnt)
		return;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		exact += p->functions[i].chosen && !t->drops[i].dropped && i != t->zoomed;
		left += p->functions[i].chosen && t->drops[i].dropped;
	}
	column = canvas__put(c, 1, 0, CANVAS_WARN, "ZOOM");
	text_escape(p->functions[t->zoomed].name, text, sizeof(text));
	column = canvas__printf(c, 1, column + 1, CANVAS_BOLD, "%s", text);
	column = canvas__printf(c, 1, column, CANVAS_PLAIN,
				p->functions[t->zoomed].kind == FUNCTION_CALLER
					? " has no probe; %zu that it calls are exact (+)"
					: " and %zu that it calls are exact (+)",
				exact);
	if (left)
		canvas__printf(c, 1, column, CANVAS_PLAIN, ", %zu more are not (*; ! pays for it)",
			       left);
}

/* The keys that are of most use now. */
static const char *keys_help(const struct top *t)
{
	if (t->machine)
		return "Enter goes in  f functions  t tree  / search  <> sort  ? help  q quits";
	if (t->zoomed != NOTHING_SELECTED)
		return "Esc lets go  ! all of it exact  f functions  t tree  H threads  ? help  "
		       "q quits";
	if (t->sessions_cnt)
		return "f functions  t tree  H threads  s sessions  Enter zooms  ? help  q quits";
	return "f functions  t tree  H threads  / search  <> sort  Enter zooms  ? help  q quits";
}

/* The last line: what is being searched for, a message, or the keys. */
static void draw_foot(const struct top *t, struct canvas *c)
{
	size_t row = c->rows - 1, column;

	if (t->editing) {
		column = canvas__printf(c, row, 0, CANVAS_BOLD, "search: %s", t->search);
		canvas__put(c, row, column, CANVAS_SELECTED, " ");
		return;
	}
	if (t->message[0]) {
		canvas__put(c, row, 0, CANVAS_WARN, t->message);
		return;
	}
	column = 0;
	if (t->search[0])
		column = canvas__printf(c, row, 0, CANVAS_BOLD, "/%s  ", t->search);
	canvas__put(c, row, column, CANVAS_DIM, keys_help(t));
}

int top__draw(struct top *t, struct canvas *c)
{
	int err = list_rows(t);

	if (!err && c->rows < LEAST_ROWS)
		canvas__printf(c, 0, 0, CANVAS_WARN, "%d lines are needed", LEAST_ROWS);
	if (err || c->rows < LEAST_ROWS)
		return err;
	draw_head(t, c);
	draw_zoom(t, c);
	draw_foot(t, c);
	t->page = c->rows - VIEW_FIRST_ROW - VIEW_ROWS_BELOW - 1;
	t->page = t->page < c->rows ? t->page : 1; /* hardly any room */
	t->page += !t->page;
	return views__draw(t, c);
}
