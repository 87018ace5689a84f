/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of a profile's lines, and which of them are the same. */
#ifndef PROFTRACE_CALLS_LINE_ORDER_H
#define PROFTRACE_CALLS_LINE_ORDER_H

#include <stdbool.h>
#include <string.h>

#include "calls/profile.h"

/* Whether they are of one line in the source, whatever code it is in. */
static inline bool line_order__is_same(const struct profile_line *a, const struct profile_line *b)
{
	return a->line == b->line && (a->file == b->file || !strcmp(a->file, b->file));
}

/* The order in struct profile: by file, line, function and inlined call. */
static inline int line_order__compare(const struct profile_line *a, const struct profile_line *b)
{
	int order = a->file == b->file ? 0 : strcmp(a->file, b->file);

	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

#endif
