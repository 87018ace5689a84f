/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's machine code, as bytes and decoded: see code.h. */
#ifndef PROFTRACE_CODE_FUNCTION_CODE_H
#define PROFTRACE_CODE_FUNCTION_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/sites.h"
#include "wire.h"

/* An instruction of the entry block. */
struct code_site {
	uint32_t offset; /* from the function's start */
	uint16_t delta;	 /* bytes that the stack pointer has moved down since the entry */
	uint8_t site;	 /* enum site_class */
	/* A branch that leads to the function's entry again: a call passes the site exactly once
	 * without taking it. See go_prologue.h. */
	bool restarts;
	uint8_t cond; /* restarts: low four bits of the opcode */
	uint8_t work; /* instructions before it that do more than save a register */
	uint8_t size; /* of it, in bytes; 0: not known */
	struct wire_emulation emulation; /* SITE_EMUL: what it does */
};

/* By what a hit costs: classes of the same rank differ by less than the measurement. From the
 * calibration on 6.18: a call 440 ns, nop, jmp and jcc 550 to 570, push and call 600 to 610, a step
 * 10,000. */
unsigned code_site__rank(const struct code_site *site);

enum code_exit_kind {
	CODE_EXIT_RET,
	CODE_EXIT_JMP,
	CODE_EXIT_JCC,
};

/* An instruction that leaves the function. */
struct code_exit {
	uint64_t vaddr;
	uint8_t kind;	 /* enum code_exit_kind */
	uint8_t cond;	 /* JCC: low four bits of the opcode */
	bool steps;	 /* a probe on it costs a second trap */
	bool plain;	 /* RET: takes its address from the stack and does nothing else */
	uint64_t target; /* vaddr that it jumps to; 0: none, or not known */
	/* An early exit: it lies a few instructions before a `ret` (early_exits.h). The return
	 * address is `up` bytes above the stack or frame pointer. If the site is a jump, the
	 * function returns whichever way it goes. */
	bool early;
	bool by_frame_pointer;
	uint16_t up;
};

enum code_call_kind {
	CODE_CALL_DIRECT,
	CODE_CALL_SLOT, /* by a pointer at a fixed place: an import, or a variable */
	CODE_CALL_UNKNOWN,
};

/* An instruction that has other functions run while this one's return address is on the stack. */
struct code_call {
	uint64_t end;	 /* where it comes back to; 0: a jump out */
	uint64_t target; /* vaddr of the code, or of the pointer */
	uint8_t kind;	 /* enum code_call_kind */
	bool in_pad;	 /* runs only once an exception has been caught */
};

struct code_piece {
	uint64_t vaddr;
	const uint8_t *bytes;
	uint32_t size;
	const uint64_t *pads; /* vaddrs of the landing pads that its exception table names */
	size_t pads_cnt;
	/*
	 * pieces[0]: vaddr of a call or jump that instrumentation has put before the function's own
	 * code, and behind which that runs whatever happens; 0: none. The jump, over nops, is never
	 * a site: the program replaces it when its own tracing is switched on, and a probe that is
	 * taken out of that again leaves half of an instruction.
	 */
	uint64_t passed;
};

#define CODE_MAX_SITES	24
#define CODE_MAX_PIECES 16

struct code {
	struct code_site
		sites[CODE_MAX_SITES]; /* probeable instructions of the entry block, in order */
	uint32_t sites_cnt;
	struct code_exit *exits; /* grows; kept from one decode to the next */
	size_t exits_cnt, exits_cap;
	struct code_call *calls; /* the same; complete if `followed` */
	size_t calls_cnt, calls_cap;
	bool followed;		 /* all that can run in it is known: no tables, no stack switched */
	uint32_t loops_to_entry; /* branches that lead back to the first instruction in a call */
	uint64_t block_end;	 /* lowest vaddr behind the entry that something may jump to */
	bool tail_jumps;	 /* leaves by a jump somewhere */
	uint32_t insns;	    /* instructions that can run in it: so many a call, unless it loops */
	bool loops;	    /* branches backwards */
	bool dear;	    /* has an instruction that is: see struct insn */
	bool traps;	    /* has an instruction that does not go on: ud2, hlt, int3 */
	bool leaf;	    /* calls nothing, jumps nowhere else, plain stack use, no system call */
	bool exits_missing; /* some may lie behind a jump table that cannot be read */
	const char *no_exits; /* why its exits are not all known; NULL: they are */
	const char *bad;      /* why it cannot be decoded to its end; NULL: it can */
	bool patched;	      /* some of it is not what runs: see plan/patched.h */
};

void code_clear(struct code *code); /* frees its arrays; it is empty then */

#define CODE_INSIDE 0xff

/* A jump from one instruction of the function to another. */
struct code_edge {
	uint64_t from, to;
};

/* The flow of control in the function that was decoded last. */
struct code_flow {
	/* By byte of the pieces, one behind the other: the length of the instruction that begins
	 * there; 0: nothing leads there; CODE_INSIDE: it is in the midst of one. */
	const uint8_t *reached;
	const struct code_edge *edges; /* all, if `certain`; in no order */
	size_t edges_cnt;
	/* Belongs to the edges: the instructions behind which control does not run on; in no order.
	 * */
	const uint64_t *stops;
	size_t stops_cnt;
	bool certain;  /* of no jump it is unknown where it leads */
	bool has_rest; /* there are bytes that may be code which nothing is seen to lead to */
};

/* Reads `len` bytes of the object at `vaddr`, which may lie outside the function (jump tables).
 * Returns whether all of them are there. */
typedef bool (*code_reader)(void *ctx, uint64_t vaddr, void *buf, size_t len);

#endif
