// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t below(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

int canvas__resize(struct canvas *c, size_t rows, size_t columns)
{
	free(c->cells);
	c->rows = below(rows, CANVAS_ROWS_MAX);
	c->columns = below(columns, CANVAS_COLUMNS_MAX);
	c->cells = calloc(c->rows * c->columns + 1, sizeof(*c->cells));
	if (!c->cells) {
		c->rows = c->columns = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->rows * c->columns; i++)
		c->cells[i].text[0] = ' ';
	return 0;
}

void canvas__fini(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){0};
}

size_t canvas__put(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		   const char *text)
{
	char next[UTF8_MAX];
	size_t len;

	while ((len = utf8_next_plain(&text, next))) {
		if (row < c->rows && column < c->columns) {
			struct canvas_cell *cell = &c->cells[row * c->columns + column];

			memcpy(cell->text, next, len);
			cell->text[len] = '\0';
			cell->style = style;
		}
		column++;
	}
	return column;
}

size_t canvas__printf(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		      const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return canvas__put(c, row, column, style, text);
}

void canvas__style_row(struct canvas *c, size_t row, enum canvas_style style)
{
	for (size_t i = 0; row < c->rows && i < c->columns; i++)
		c->cells[row * c->columns + i].style = style;
}
