/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry block is the straight line from the first instruction to the first branch, or to the
 * first instruction that something else may jump to: what lies in it runs exactly once a call. As
 * targets are only known after the whole function has been read, candidates for probes are
 * collected first and cut afterwards. Inside code/ only.
 */
#ifndef PROFTRACE_CODE_ENTRY_SITES_H
#define PROFTRACE_CODE_ENTRY_SITES_H

#include <stdbool.h>
#include <stdint.h>

struct code;
struct insn;

struct entry_block {
	struct code *code; /* that the candidates are put into */
	uint64_t start;	   /* vaddr of the function */
	bool open;	   /* still in the straight line from the entry */
	bool only_nops;	   /* nothing but endbr64 and nops so far */
	uint8_t work;	   /* as in struct code_site */
	int64_t delta;	   /* bytes the stack pointer lies below its place at the entry */
};

/* Takes an instruction of the entry block for a candidate, if it can be one. `leaves`: it is a jump
 * out of the function. */
void entry_sites__note(struct entry_block *b, const struct insn *in, uint64_t vaddr, bool leaves);

/* Takes note of what runs before the sites to come. */
void entry_sites__pass(struct entry_block *b, const struct insn *in);

/* Follows the stack pointer through the entry block; ends the block where it is lost. */
void entry_sites__follow_stack(struct entry_block *b, const struct insn *in);

/* Drops the candidates that something may jump to or past; `end` is the lowest vaddr behind the
 * entry that something may jump to, `unread_table` says that a jump may lead anywhere. */
void entry_sites__cut(struct entry_block *b, uint64_t end, bool unread_table);

#endif
