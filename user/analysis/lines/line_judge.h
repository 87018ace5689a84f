/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which lines of a function can be counted, and which of its segments have to be seen for
 * that. Pure computation. Inside lines/ only. */
#ifndef PROFTRACE_LINES_LINE_JUDGE_H
#define PROFTRACE_LINES_LINE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_keys;
struct plan_function;
struct segments;

/* The decision about one key: whether its line is counted, and if not, why. */
struct line_choice {
	const char *reason; /* why it is not counted; static */
	bool wanted;
	uint32_t line; /* in plan.lines + 1; 0: not there yet */
};

struct line_judge {
	struct line_choice *choices; /* by key; [0] is no line's */
	size_t choices_cap;
	uint32_t entry;	 /* segment that the function's entry stands for + 1; 0: none */
	uint8_t *fences; /* by segment: it is to be probed though its line is not wanted */
	/* for the making */
	struct segments *segs;
	const struct line_keys *keys;
	uint32_t *stamps; /* by segment: the walk that it was seen by */
	uint8_t *behind;  /* by segment: there is a way to it through what cannot be probed */
	uint32_t *stack;
	const char **doubts; /* by key */
	size_t doubts_cap, segs_cap[4], stack_cnt;
	uint32_t steps;
};

/* A function with its segments. */
struct line_function {
	const struct plan_function *f;
	uint64_t vaddr;
	bool loops_to_entry; /* code.loops_to_entry */
	struct segments *segs;
};

/* Makes room for the choices of a function with these keys, and clears them: then say which are
 * wanted. Zero *j before the first use and line_judge__clear() it after the last. Returns 0 or
 * -ENOMEM. */
int line_judge__begin(struct line_judge *j, const struct line_keys *keys);

/* Gives all that is wanted this reason. */
void line_judge__refuse(struct line_judge *j, const char *reason);

/* Decides. Gives the segment that the function's entry stands for its site, and makes segments
 * that come before a function is counted as called no line's. Returns 0 or -ENOMEM. */
int line_judge__decide(struct line_judge *j, const struct line_function *in);

/* Whether the segment's line is wanted and can be counted. */
bool line_judge__counts(const struct line_judge *j, uint32_t seg);

/* Whether what counts knows nothing of the segment, so that the line before goes on in it. */
bool line_judge__passes(const struct line_judge *j, uint32_t seg);

void line_judge__clear(struct line_judge *j);

#endif
