/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that are of several functions, such as that on which a lambda begins. Inside lines/ only.
 */
#ifndef PROFTRACE_LINES_LINE_ASIDES_H
#define PROFTRACE_LINES_LINE_ASIDES_H

#include <stddef.h>
#include <stdint.h>

struct plan_lines;

/* The line of source on which a function begins. */
struct line_start {
	const char *file; /* as in struct plan_line: the same file has one pointer only */
	uint32_t line;
	uint32_t function; /* in plan.functions */
};

/* Sets `aside` of lines from `first` on; the starts are of the functions that these lines are of,
 * by function. Returns 0 or -ENOMEM. */
int line_asides__find(struct plan_lines *l, size_t first, const struct line_start *starts,
		      size_t starts_cnt);

#endif
