/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen of text that is drawn in memory: what the live view shows, without a terminal. Positions
 * are (row, column) from the upper left, (0, 0). What does not fit is cut off.
 */
#ifndef PROFTRACE_TOP_CANVAS_H
#define PROFTRACE_TOP_CANVAS_H

#include <stddef.h>
#include <stdint.h>

#include "util/utf8.h"

#define CANVAS_ROWS_MAX	   1000
#define CANVAS_COLUMNS_MAX 1000

enum canvas_style {
	CANVAS_PLAIN,
	CANVAS_BOLD,
	CANVAS_DIM,
	CANVAS_HEADING,	 /* of a table */
	CANVAS_SELECTED, /* the row that keys act on */
	CANVAS_WARN,
};

struct canvas_cell {
	char text[UTF8_MAX + 1]; /* one character */
	uint8_t style;
};

struct canvas {
	size_t rows, columns;
	struct canvas_cell *cells; /* row by row */
};

/* Makes it so large, at most CANVAS_ROWS_MAX times CANVAS_COLUMNS_MAX, and empty. `c` is all zero
 * at first. Returns 0 or -ENOMEM, `c` then being empty. */
int canvas__resize(struct canvas *c, size_t rows, size_t columns);
void canvas__fini(struct canvas *c);

/* Writes text, which may be a stranger's: control characters become blanks, and what is not UTF-8
 * U+FFFD. Returns the column behind it, which may be beyond the last one. */
size_t canvas__put(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		   const char *text);

/* Like canvas__put(), formatted, at most 255 bytes. */
size_t canvas__printf(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Gives a whole row a style. */
void canvas__style_row(struct canvas *c, size_t row, enum canvas_style style);

#endif
