/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table that fills from its begin, of which as much is mapped as has been in use, and some more.
 * Of the tables of a default run that is a hundredth: page table entries for all of the 76 MB would
 * take 10 ms of CPU time to be made and taken back.
 *
 * Addresses for all of it are set aside, so that it stays where it is. What is not mapped yet reads
 * as 0, as entries do that were never used, and cannot be written.
 */
#ifndef PROFTRACE_TABLES_GROWING_TABLE_H
#define PROFTRACE_TABLES_GROWING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct growing_table {
	char *at;
	size_t entry;	      /* bytes */
	uint32_t cap, mapped; /* entries: of the table, and those that can be read and written */
	int fd;
	bool failed; /* no more could be mapped */
};

/* Borrows the descriptor of the table, which has `cap` entries of `entry` bytes. Returns 0 or
 * -errno. */
int growing_table__map(struct growing_table *g, int fd, size_t entry, uint32_t cap);
void growing_table__unmap(struct growing_table *g);

/* Has its first `cnt` entries mapped, or all if they are fewer. Where that cannot be, the results
 * lack what is behind: a warning says so, once. */
void growing_table__reach(struct growing_table *g, uint32_t cnt);

#endif
