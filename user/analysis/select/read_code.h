/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that a program reads as data, to copy it or to verify a checksum, as far as its symbols
 * tell: those by which it knows where that code begins and ends. A breakpoint in it would be copied
 * or summed up, too.
 */
#ifndef PROFTRACE_SELECT_READ_CODE_H
#define PROFTRACE_SELECT_READ_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;
struct symtab;

struct read_code {
	struct read_code_range {
		uint64_t begin, end; /* vaddrs */
	} * ranges;
	size_t cnt, cap;
	size_t looks; /* at all symbols, so far */
};

/* Adds the ranges of an object to *c. Returns 0 or -ENOMEM. */
int read_code__find(struct read_code *c, const struct symtab *tab);
void read_code__clear(struct read_code *c);

/* Why the function may be read; NULL: nothing is known of that. */
const char *read_code__reason(const struct read_code *c, const struct symbol *sym);

#endif
