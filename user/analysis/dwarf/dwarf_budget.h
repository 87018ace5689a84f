/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of time and memory for reading strangers' debug information. Parts of it can stand for
 * much more than they are: a few bytes for a table, nested entries for walks over walks. So it is
 * measured what was spent: CPU time of this thread, and memory of the process. Each file has a
 * share by its size, all together have a limit. Who has used up its share is not read any more;
 * that is said once. Not for several threads at once.
 */
#ifndef PROFTRACE_DWARF_DWARF_BUDGET_H
#define PROFTRACE_DWARF_DWARF_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_budget {
	const char *label; /* the file's, for messages; borrowed */
	uint64_t bytes;	   /* of the file */
	uint64_t left_ns;
	uint64_t since_ns; /* measured up to here */
	uint64_t look_ns;  /* a coarse clock at the last look at the others */
	bool used_up;
};

/* A share for a file of so many bytes; `label` must outlive it. */
void dwarf_budget__begin(struct dwarf_budget *b, uint64_t bytes, const char *label);
void dwarf_budget__end(struct dwarf_budget *b); /* accepts one that is all 0 */

/* Around everything that reads. */
void dwarf_budget__enter(struct dwarf_budget *b);
void dwarf_budget__leave(struct dwarf_budget *b);

/* In between, at each step: whether to go on. Costs a few ns. */
bool dwarf_budget__lasts(struct dwarf_budget *b);

/* Bytes of memory that a file of so many bytes may take. */
uint64_t dwarf_budget__share(uint64_t bytes);

/* Whether so many bytes more may be taken at once. If not, the share is used up. */
bool dwarf_budget__grants(struct dwarf_budget *b, uint64_t bytes);

/* The time that all together have restarts: a plan and a result have theirs. */
void dwarf_budget__renew(void);

#endif
