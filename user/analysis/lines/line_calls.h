/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a function's calls end no basic block: those of functions that gcc knows to return, see
 * returning.h. Inside lines/ only. */
#ifndef PROFTRACE_LINES_LINE_CALLS_H
#define PROFTRACE_LINES_LINE_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct code;
struct elf_image;
struct insn_decoder;
struct linkage;

struct line_calls {
	uint64_t *returning; /* vaddrs behind such calls, in order */
	size_t cnt, cap;
};

/* Finds the calls of a function that was decoded. Uses the array again: zero *c before the first
 * use and line_calls__clear() it after the last. Returns 0 or -ENOMEM. */
int line_calls__find(struct line_calls *c, const struct code *code, const struct elf_image *img,
		     const struct linkage *linkage, struct insn_decoder *insn);
void line_calls__clear(struct line_calls *c);

#endif
