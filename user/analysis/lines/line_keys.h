/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To which line and inlined call each instruction of a function belongs. Inside lines/ only. */
#ifndef PROFTRACE_LINES_LINE_KEYS_H
#define PROFTRACE_LINES_LINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "dwarf/line_table.h"

/* A line of one inlined call. Keys are numbered from 1 on. */
struct line_key {
	const char *file; /* the line table's; the same file has one pointer only */
	uint32_t line;
	uint32_t inlined; /* index in `inlines` + 1; 0: none */
	bool reached;	  /* some instruction of it is */
};

struct line_keys {
	struct line_key *items; /* key 1 is the first */
	size_t cnt, cap;
	uint32_t *by_byte; /* of the pieces, one behind the other: a key; 0: of no line */
	size_t by_byte_cap;
	struct line_inlines inlines;
	/* for the making */
	uint32_t *inlined;
	size_t inlined_cap;
	uint32_t *hash; /* numbers of keys; 0: free */
	size_t hash_size;
	struct line_row *table;
	size_t table_cnt, table_cap;
	const char **files;
	size_t files_cnt, files_cap;
};

/* Finds the keys of a function that was decoded; those that no instruction has that was reached
 * come as well. Uses the arrays again: zero *k before the first use, and line_keys__clear() it
 * after the last. Returns 0 or -ENOMEM. */
int line_keys__find(struct line_keys *k, struct line_table *t, const struct code_piece *pieces,
		    size_t pieces_cnt, const uint8_t *reached);
void line_keys__clear(struct line_keys *k);

#endif
