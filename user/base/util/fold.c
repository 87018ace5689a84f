// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes are kept until their line is known to fit or has to be cut, so no more than one row of the
 * terminal and its colours is in memory, however long a line is.
 */
#include "util/fold.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MAX 10000
#define ROW_MAX	    65536 /* bytes: a row with so many is written, whatever it shows */
#define INDENT	    2	  /* of what is folded, beyond its line's own */

struct fold {
	FILE *out;
	int error; /* the first of `out`, which later writes would not repeat; 0: none */
	size_t columns;
	char row[ROW_MAX];
	size_t len;	    /* bytes in `row` */
	size_t width;	    /* columns they take */
	size_t blank;	    /* where the last blank is that may be cut at; 0: none */
	size_t blank_width; /* columns up to there */
	size_t indent;	    /* of the line's begin */
	bool text;	    /* the row has more than its indentation */
	bool folded;	    /* the row is not its line's first */
	enum { PLAIN, ESCAPED, SEQUENCE } state;
};

static void begin_row(struct fold *f)
{
	f->len = f->width = f->blank = f->blank_width = 0;
	f->text = false;
}

static void begin_line(struct fold *f)
{
	begin_row(f);
	f->indent = 0;
	f->folded = false;
}

/* Columns by which rows behind the first are indented: never most of the terminal. */
static size_t indent_of(const struct fold *f)
{
	size_t indent = f->indent + INDENT;

	return indent < f->columns / 2 ? indent : f->columns / 2;
}

static void put(struct fold *f, char c)
{
	if (f->len == ROW_MAX) {
		fwrite(f->row, 1, f->len, f->out);
		f->len = f->blank = 0;
	}
	f->row[f->len++] = c;
}

/* Writes the row up to its last blank, or all of it, and begins the next one with the rest. */
static void cut(struct fold *f)
{
	size_t end = f->blank ? f->blank : f->len, from = f->blank ? f->blank + 1 : f->len;
	size_t rest = f->len - from, indent = indent_of(f);
	size_t width = f->blank ? f->width - f->blank_width - 1 : 0;

	/* Blanks at a row's end show nothing. */
	while (end && f->row[end - 1] == ' ')
		end--;
	fwrite(f->row, 1, end, f->out);
	fprintf(f->out, "\n%*s", (int)indent, "");
	memmove(f->row, f->row + from, rest);
	begin_row(f);
	f->len = rest;
	f->width = indent + width;
	f->text = rest;
	f->folded = true;
}

static void count(struct fold *f, char c)
{
	if ((c & 0xc0) == 0x80)
		return; /* the rest of a character */
	if (f->width == f->columns)
		cut(f);
	if (c != ' ') {
		f->text = true;
	} else if (f->text) {
		f->blank = f->len;
		f->blank_width = f->width;
	} else if (!f->folded) {
		f->indent++;
	}
	f->width++;
}

static void take(struct fold *f, char c)
{
	if (c == '\n') {
		put(f, c);
		fwrite(f->row, 1, f->len, f->out);
		begin_line(f);
		f->state = PLAIN;
		return;
	}
	switch (f->state) {
	case PLAIN:
		if (c == '\033') {
			f->state = ESCAPED;
			break;
		}
		/* A blank that would begin a folded row is what was cut at. */
		if (c == ' ' && f->width == f->columns) {
			f->blank = 0;
			cut(f);
			return;
		}
		if (c == ' ' && f->folded && !f->text)
			return;
		count(f, c);
		break;
	case ESCAPED:
		f->state = c == '[' ? SEQUENCE : PLAIN;
		break;
	case SEQUENCE:
		f->state = c >= '@' && c <= '~' ? PLAIN : SEQUENCE;
		break;
	}
	put(f, c);
}

/* Writes what `out` has buffered. False: that has failed, and errno says why, also if it has failed
 * before. Errors of a full disk or a closed pipe show when the bytes go on. */
static bool pass_on(struct fold *f)
{
	if (fflush(f->out) || ferror(f->out))
		f->error = f->error ? f->error : errno ? errno : EIO;
	errno = f->error;
	return !f->error;
}

static ssize_t fold_write(void *cookie, const char *buf, size_t size)
{
	struct fold *f = cookie;

	errno = 0;
	for (size_t i = 0; i < size && !f->error; i++)
		take(f, buf[i]);
	return pass_on(f) ? (ssize_t)size : 0;
}

static int fold_close(void *cookie)
{
	struct fold *f = cookie;
	int error;

	errno = 0;
	fwrite(f->row, 1, f->len, f->out);
	pass_on(f);
	error = f->error;
	free(f);
	errno = error;
	return error ? EOF : 0;
}

int fold__open(FILE *out, size_t columns, FILE **folded)
{
	struct fold *f = malloc(sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->out = out;
	f->error = 0;
	f->columns = columns < FOLD_MIN ? FOLD_MIN : columns;
	f->state = PLAIN;
	begin_line(f);
	*folded = fopencookie(f, "w",
			      (cookie_io_functions_t){.write = fold_write, .close = fold_close});
	if (*folded)
		return 0;
	free(f);
	return -ENOMEM;
}

size_t fold__columns(int fd)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	unsigned long columns = 0;
	char *end;

	if (text && *text >= '0' && *text <= '9') {
		columns = strtoul(text, &end, 10);
		if (*end)
			columns = 0;
	}
	if (!columns && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size))
		columns = size.ws_col;
	if (columns && columns < FOLD_MIN)
		return FOLD_MIN;
	return columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
}
