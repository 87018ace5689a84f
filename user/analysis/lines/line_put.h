/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts what was decided of a function's lines into the plan. Inside lines/ only. */
#ifndef PROFTRACE_LINES_LINE_PUT_H
#define PROFTRACE_LINES_LINE_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct line_judge;
struct line_keys;
struct plan_lines;
struct segments;

struct line_put {
	/* given */
	struct plan_lines *out;
	const struct elf_image *img;
	/* of the function */
	uint32_t function; /* in plan.functions */
	bool approximate;  /* see struct plan_line */
	bool aside;	   /* the same, of all its lines */
	/* The line that declares the function; NULL: nobody wants to know. */
	const char *declared_file;
	uint32_t declared_line;
	const struct line_keys *keys;
	const struct segments *segs;
	struct line_judge *judge;
	/* for the making */
	uint32_t declared; /* in plan.lines + 1; 0: it has code, or is not wanted */
	uint32_t *inlines; /* by inlined call of the function: in plan.inlines + 1 */
	size_t inlines_cap;
};

/* Appends the function's wanted lines and its sites. Keeps its array for the next one: zero *p
 * before the first use but for what is given, and line_put__clear() it after the last. Returns 0,
 * -ENOMEM, or -E2BIG with a line logged. */
int line_put__all(struct line_put *p);

/* The plan's copy of a string; NULL: no memory. */
const char *line_put__string(struct line_put *p, const char *text);

void line_put__clear(struct line_put *p);

#endif
