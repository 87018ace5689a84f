/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source for people: function by function, and summed by file and line. */
#ifndef PROFTRACE_CALLS_LINES_H
#define PROFTRACE_CALLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_line;

/* Lines of one function, of one file, that are part of one inlined call, or of none. */
struct line_block {
	uint32_t function;
	uint32_t inlined; /* as in struct profile_line */
	const char *file;
	const struct profile_line *const *lines; /* by number */
	size_t cnt;
	uint64_t whole_ns; /* of the function's lines, all its blocks together */
};

struct line_blocks {
	struct line_block *items; /* the dearest function first; in it, what is not inlined first */
	size_t cnt;
	const struct profile_line **lines;
};

/* Makes blocks for all functions that are not hidden. Returns 0 or -ENOMEM. */
int line_blocks__make(const struct profile *p, struct line_blocks *out);
void line_blocks__clear(struct line_blocks *b);

/* A line of source, of all functions and inlined calls that have code of it. */
struct line_sum {
	const char *file;
	uint32_t line;
	uint64_t hits, ns, error_ns;
	const char *reason; /* why it is not counted, or not all of it; NULL: it is */
	bool approximate;   /* something of it is: see struct profile_line */
	size_t first, cnt;  /* in profile::lines */
};

struct line_sums {
	struct line_sum *items; /* by file and line */
	size_t cnt;
};

/* Returns 0 or -ENOMEM. */
int line_sums__make(const struct profile *p, struct line_sums *out);
void line_sums__clear(struct line_sums *s);

#endif
