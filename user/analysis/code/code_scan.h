/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function while its flow of control is followed: see code.c. Inside code/ only. */
#ifndef PROFTRACE_CODE_CODE_SCAN_H
#define PROFTRACE_CODE_CODE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/entry_sites.h"
#include "code/function_code.h"
#include "code/jump_tables.h"

#define CODE_CALLEES 2048 /* that are remembered */

struct arch;
struct insn_decoder;

/* Code that something jumps to. */
struct code_work {
	uint64_t vaddr;
	uint32_t limit; /* as in struct table_bound: what the jump has found out */
};

struct code_decoder {
	const struct arch *arch;
	struct insn_decoder *insn;
	code_reader read;
	void *read_ctx;
	uint8_t *reached; /* a byte of the pieces: length of the instruction that begins there */
	size_t reached_cap;
	struct code_work *work; /* still to follow */
	size_t work_cnt, work_cap;
	bool notes_edges;
	struct code_edge *edges;
	size_t edges_cnt, edges_cap;
	uint64_t *stops; /* as in struct code_flow */
	size_t stops_cnt, stops_cap;
	bool certain, has_rest; /* as in struct code_flow */
	/* Functions that have been called, by the low bits of where they begin. */
	struct callee {
		uint64_t vaddr; /* 0: none */
		bool takes_address;
	} callees[CODE_CALLEES];
};

/* The state of one code_decode(). */
struct code_scan {
	struct code_decoder *d;
	const struct code_piece *pieces;
	size_t pieces_cnt;
	struct code *code;
	uint64_t first_target; /* lowest vaddr behind the entry that is jumped to */
	struct entry_block entry;
	bool unread_table;    /* an indirect jump whose targets are not known */
	bool in_pad;	      /* what is followed is a landing pad's */
	bool pushed;	      /* the last instruction pushed something */
	bool torn_down;	      /* the stack frame has been given back on the way here */
	bool exclusive;	      /* something accesses memory so: see struct insn */
	bool framed;	      /* some instruction takes stack */
	bool left_indirectly; /* by a jump that may lead anywhere, unless that is a callee's */
	bool left_framed;     /* the same, and nothing says that the frame is gone */
	bool has_rest;	      /* there are bytes that may be code which nothing leads to */
	uint64_t vaddr;	      /* of the instruction that is looked at */
	struct jump_tables tables;
};

/* The function does what cannot be followed. */
void code_scan__lose_track(struct code_scan *s);

/* Notes that something jumps to `vaddr`, which may be anywhere. */
void code_scan__note_target(struct code_scan *s, uint64_t vaddr);

/* Has the code at `vaddr` followed later, if it is the function's. Returns 0 or -ENOMEM. */
int code_scan__follow_later(struct code_scan *s, uint64_t vaddr, uint32_t limit);

/* Follows the code at `vaddr` until it does not run on, or to where it was followed before. Returns
 * 0, also where it is no code (then that is said in code.bad), or -ENOMEM. */
int code_scan__follow(struct code_scan *s, struct code_work work);

#endif
