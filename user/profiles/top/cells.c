// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/cells.h"

#include <stdint.h>
#include <stdio.h>

#include "top/canvas.h"
#include "util/cxx_name.h"
#include "util/text.h"

void cell__share(struct canvas *c, size_t row, size_t column, enum canvas_style style, double share,
		 bool estimated)
{
	char text[32], percent[24];

	text_percent(100 * share, percent, sizeof(percent));
	snprintf(text, sizeof(text), "%s%s", estimated && share > 0 ? "~" : "", percent);
	canvas__printf(c, row, column, style, "%7s", text);
}

void cell__duration(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		    uint64_t ns)
{
	char text[32];

	canvas__printf(c, row, column, style, "%7s",
		       ns ? text_duration(ns, text, sizeof(text)) : "-");
}

void cell__rate(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		double a_second, bool estimated)
{
	char text[32] = "-", count[28];

	if (a_second >= 10)
		text_count((uint64_t)(a_second + 0.5), count, sizeof(count));
	else
		snprintf(count, sizeof(count), "%.1f", a_second);
	if (a_second >= 0)
		snprintf(text, sizeof(text), "%s%s", estimated ? "~" : "", count);
	canvas__printf(c, row, column, style, "%10s", text);
}

#define NAME_SIZE 1024 /* of a name that is still looked into */

size_t cell__name(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		  const char *name, bool mark)
{
	size_t room = c->columns > column + mark ? c->columns - column - mark : 0;
	size_t len, tail = room / 2;
	char shorter[NAME_SIZE];
	const char *end;

	if (snprintf(shorter, sizeof(shorter), "%s", name) < NAME_SIZE) {
		cxx_name__fit(shorter, room);
		name = shorter;
	}
	end = name;
	len = canvas__put(c, c->rows, 0, style, name);
	if (len <= room || room < 3)
		return canvas__put(c, row, column, style, name);
	canvas__put(c, row, column, style, name);
	for (size_t left = len - tail; left; left--) {
		char skipped[UTF8_MAX];

		utf8_next_plain(&end, skipped);
	}
	column = canvas__put(c, row, column + room - tail - 1, style, "…");
	return canvas__put(c, row, column, style, end);
}
