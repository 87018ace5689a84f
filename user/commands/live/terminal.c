// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/terminal.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "live/terminal_kind.h"
#include "top/canvas.h"
#include "top/top.h"
#include "util/log.h"

#define ESCAPE	      27
#define ESCAPE_MS     25 /* what follows an Escape later is another key */
#define ROWS_USUAL    24
#define COLUMNS_USUAL 80

static SCREEN *screen;

/* The bars and marks need UTF-8, whatever language root's shell has. */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int terminal__check(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		log_error("top needs a terminal; in a pipe, -i 1 shows what is new each second");
		return -ENOTTY;
	}
	if (!terminal_kind__is_known()) {
		log_error("top knows no terminal of this kind: is TERM right?");
		return -ENOTTY;
	}
	return 0;
}

int terminal__start(void)
{
	choose_locale();
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		log_error("top knows no terminal of this kind: is TERM right?");
		return -ENOTTY;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_YELLOW, -1);
	}
	return 0;
}

void terminal__stop(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void terminal__size(size_t *rows, size_t *columns)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		size = (struct winsize){.ws_row = ROWS_USUAL, .ws_col = COLUMNS_USUAL};
	*rows = size.ws_row;
	*columns = size.ws_col;
}

static attr_t attribute(enum canvas_style style)
{
	switch (style) {
	case CANVAS_BOLD:
		return A_BOLD;
	case CANVAS_DIM:
		return A_DIM;
	case CANVAS_HEADING:
		return A_UNDERLINE;
	case CANVAS_SELECTED:
		return A_REVERSE;
	case CANVAS_WARN:
		return A_BOLD | (has_colors() ? COLOR_PAIR(1) : 0);
	default:
		return A_NORMAL;
	}
}

void terminal__paint(const struct canvas *c)
{
	int rows, columns;

	getmaxyx(stdscr, rows, columns);
	if ((size_t)rows != c->rows || (size_t)columns != c->columns)
		resizeterm((int)c->rows, (int)c->columns);
	erase();
	for (size_t i = 0; i < c->rows * c->columns; i++) {
		const struct canvas_cell *cell = &c->cells[i];

		if (cell->style == CANVAS_PLAIN && !strcmp(cell->text, " "))
			continue;
		attrset(attribute(cell->style));
		mvaddstr((int)(i / c->columns), (int)(i % c->columns), cell->text);
	}
	attrset(A_NORMAL);
	refresh();
}

static const struct {
	wint_t code;
	uint32_t key;
} keys[] = {
	{KEY_UP, TOP_KEY_UP},	      {KEY_DOWN, TOP_KEY_DOWN},
	{KEY_LEFT, TOP_KEY_LEFT},     {KEY_RIGHT, TOP_KEY_RIGHT},
	{KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
	{KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
	{KEY_ENTER, TOP_KEY_ENTER},   {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
};

bool terminal__key(uint32_t *key)
{
	wint_t code;
	int kind = wget_wch(stdscr, &code);

	if (kind == ERR)
		return false;
	*key = 0; /* means nothing */
	if (kind == KEY_CODE_YES) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			if (keys[i].code == code)
				*key = keys[i].key;
		}
	} else if (code == '\r' || code == '\n') {
		*key = TOP_KEY_ENTER;
	} else if (code == ESCAPE) {
		*key = TOP_KEY_ESCAPE;
	} else if (code == '\b' || code == 0x7f) {
		*key = TOP_KEY_BACKSPACE;
	} else {
		*key = code;
	}
	return true;
}
