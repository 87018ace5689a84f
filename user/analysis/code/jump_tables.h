/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jump tables, as compilers make them of a switch: what the code on the way to a jump says of the
 * table's place and length. Inside code/ only.
 */
#ifndef PROFTRACE_CODE_JUMP_TABLES_H
#define PROFTRACE_CODE_JUMP_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "code/function_code.h"

struct insn;

/* A jump table that is about to be used. */
struct jump_table {
	uint64_t vaddr;
	uint8_t entry_size; /* 4: offsets from the table; 8: addresses */
	uint32_t age;	    /* instructions since its load */
	uint32_t limit;	    /* entries, where a mask leaves the index below that; 0: not known */
};

/* The bound of a value that a table is indexed with: it was compared and found below `limit`. */
struct table_bound {
	int64_t constant; /* of the last comparison */
	uint32_t compare_age;
	uint32_t limit; /* 0: none */
	uint32_t limit_age;
	uint32_t limit_taken; /* the same where the last branch leads */
};

/* A register of which a mask has left values below `limit`. */
struct masked_index {
	uint32_t limit;
	uint32_t age; /* instructions since */
	uint8_t reg;
};

struct jump_tables {
	struct jump_table last;
	struct masked_index masked;
	struct table_bound bound;
	uint64_t lea[16]; /* last address loaded into each register; 0: none */
	bool scaled[16];  /* it was loaded with another one times 4, since */
};

/* Code is followed from somewhere on; the jump to there has found the index to be below `limit` (0:
 * nothing). */
void jump_tables__begin(struct jump_tables *t, uint32_t limit);

/* Takes note of an instruction, in the order in which they run. */
void jump_tables__pass(struct jump_tables *t, const struct insn *in, uint64_t vaddr);

/* Whether the instruction jumps, or may jump, through a table, which is *out then. */
bool jump_tables__used_by(const struct jump_tables *t, const struct insn *in,
			  struct jump_table *out);

/* Takes a target out of a table. Returns 0, -ERANGE if that cannot be one, or another error. */
typedef int (*jump_target)(void *ctx, uint64_t vaddr);

/* Hands on the entries of a table, as many as the range check before it allows. Returns how many; 0
 * if it cannot be read, or has one that cannot be (then nothing is known of where it leads); or
 * what `found` has returned. */
int jump_tables__follow(const struct jump_tables *t, const struct jump_table *table,
			code_reader read, void *read_ctx, jump_target found, void *found_ctx);

#endif
