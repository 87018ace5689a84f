/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a comparison for people. Inside diff_text.c only. */
#ifndef PROFTRACE_SINK_TEXT_DIFF_TABLE_H
#define PROFTRACE_SINK_TEXT_DIFF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/text/printer.h"

struct diff;
struct diff_figures;

struct diff_table {
	struct printer pr;
	const struct diff *d;
	const struct diff_figures *figures; /* of the rows; set by what prints */
	bool paths;			    /* rows are paths, otherwise functions */
	uint32_t shown;			    /* the columns that there is room for */
	size_t name;			    /* columns of what a row is of */
};

/* By the change of their own time, what is noise behind it. Return 0 or -ENOMEM. */
int diff_table__times(struct diff_table *t, bool paths);

/* Whether either run has counted calls: those on the whole machine (-a) do not. */
bool diff_table__counts_calls(const struct diff_table *t);

/* By the change of their calls, at most `max` rows unless all are wanted. */
int diff_table__calls(struct diff_table *t, bool paths, size_t max);

/* Prints the change as one sentence, which is read first: "slower by 200 ms (+399.4%)". Returns 0
 * or -ENOMEM. */
int diff_verdict__print(struct diff_table *t);

/* Slower is red, faster green. */
static inline const char *diff_table__direction(const struct diff_table *t, int64_t change)
{
	return printer__style(&t->pr, change > 0 ? STYLE_WORSE : change < 0 ? STYLE_BETTER : "");
}

#endif
