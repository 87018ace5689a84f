// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/condition.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DEEPEST 100 /* parentheses and brackets within each other */

/* The end of 'text', "name" or `name`, in which the quote itself is \' or ''; NULL: there is none.
 * Of '' both are passed, as two texts side by side. */
static const char *quoted_end(const char *quote)
{
	const char *c = quote + 1;

	for (; *c && *c != *quote; c++)
		c += *c == '\\' && c[1];
	return *c ? c : NULL;
}

static char counterpart(char open)
{
	return open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* Outside quotes. ClickHouse has comments of MySQL's (#), texts between $$, and takes quotation
 * marks of typographers for quotes (U+2018 to U+201D: e2 80 98 to e2 80 9d). */
static const char *wrong_character(const char *c)
{
	if (!strncmp(c, "--", 2) || !strncmp(c, "/*", 2) || *c == '#')
		return "a comment begins in it";
	if (*c == ';')
		return "a statement ends in it (;)";
	if (*c == '$' || *c == '\\')
		return "$ and \\ belong between quotes";
	if (!strncmp(c, "\xe2\x80", 2) && (unsigned char)c[2] >= 0x98 &&
	    (unsigned char)c[2] <= 0x9d)
		return "it has quotes of printed text; write '";
	return NULL;
}

const char *condition__wrong(const char *sql)
{
	const char *wrong = NULL;
	char awaited[DEEPEST];
	size_t depth = 0;

	if (!sql[strspn(sql, " \t\r\n\v\f")])
		return "it is empty";
	for (const char *c = sql; *c && !wrong; c++) {
		if (strchr("'\"`", *c)) {
			c = quoted_end(c);
			if (!c)
				return "a quote has no counterpart";
		} else if (strchr("([{", *c)) {
			if (depth == DEEPEST)
				return "its parentheses are too deep";
			awaited[depth++] = counterpart(*c);
		} else if (strchr(")]}", *c)) {
			if (!depth || awaited[--depth] != *c)
				return "a parenthesis or bracket has no counterpart";
		} else {
			wrong = wrong_character(c);
		}
	}
	return wrong || !depth ? wrong : "a parenthesis or bracket has no counterpart";
}
