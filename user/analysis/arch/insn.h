/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One decoded instruction, on any architecture: where control goes, how the stack pointer moves,
 * and how the kernel's uprobes run it. Example: `push %r13` goes on behind it, moves the stack
 * pointer by -8, and is emulated (SITE_PUSH). */
#ifndef PROFTRACE_ARCH_INSN_H
#define PROFTRACE_ARCH_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/sites.h"

struct arch;

enum insn_flow {
	FLOW_NEXT,
	FLOW_CALL,
	FLOW_JMP,	/* direct, always taken */
	FLOW_JCC,	/* direct, may be taken */
	FLOW_JMP_TAIL,	/* indirect, through a pointer: leaves the function */
	FLOW_JMP_TABLE, /* indirect, through a jump table: stays inside */
	FLOW_JMP_REG,	/* indirect, through a register: either */
	FLOW_RET,
	FLOW_STOP, /* does not go on: ud2, hlt, int3 */
};

enum insn_stack {
	STACK_MOVES,   /* by a known number of bytes, perhaps 0 */
	STACK_FRAME,   /* restored from the frame pointer, or aligned */
	STACK_UNKNOWN, /* loaded with something else: perhaps another stack */
};

#define INSN_NO_REG 0xff

/* Decoders remember many, which are copied: the longest members come first, so that it is no longer
 * than a cache line. */
struct insn {
	int64_t rel;	    /* direct branches: distance from the instruction's end */
	int64_t constant;   /* compares, masks: with that */
	int32_t down;	    /* STACK_MOVES: bytes the stack pointer moves down */
	int32_t table_disp; /* table_load, FLOW_JMP_TABLE: see table_scale */
	int32_t slot;	    /* by_slot: see there */
	uint8_t length;
	uint8_t flow;	     /* enum insn_flow */
	uint8_t stack;	     /* enum insn_stack */
	uint8_t site;	     /* enum site_class, if probeable and not across two pages */
	uint8_t site_across; /* the same across two pages: no call can be patched in there */
	uint8_t cond;	     /* JCC: low four bits of the opcode */
	/* table_load, FLOW_JMP_TABLE: entries of table_scale bytes at [table_base] + table_disp */
	uint8_t table_scale, table_base; /* register number, INSN_NO_REG: none */
	uint8_t table_index;		 /* that register tells which entry */
	uint8_t lea_reg;
	uint8_t masked_reg; /* masks: that one */
	uint8_t sum_regs[2];
	bool probeable;	    /* the kernel accepts a probe here */
	bool is_jcc_opcode; /* JCC: a true jcc, not loop or jrcxz */
	bool by_slot;	    /* calls or jumps through the pointer `slot` bytes behind its end */
	bool near;	    /* has an operand in memory, so many bytes behind its end */
	bool compares;	    /* with a constant */
	bool masks;	    /* takes a register's low bits alone, by a constant */
	bool lea_rip;	    /* loads the address `rel` behind its end into lea_reg */
	bool lea_scaled;    /* loads a register times 4 into lea_reg */
	bool sum_load;	 /* reads 4 bytes at the sum of sum_regs: unoptimised code's table load */
	bool table_load; /* reads from an array of offsets or addresses, as before a table jump */
	bool system_call;
	bool far_return;  /* takes more than an address from the stack */
	bool near_return; /* takes an address from the stack, and nothing else */
	bool is_leave;	  /* takes the stack and frame pointers from the frame */
	bool keeps_bp;	  /* is known not to write the frame pointer */
	bool endbr;
	bool is_nop; /* a nop of any length: padding */
	/* This kernel, or a later one, may replace the probed instruction by a call, which writes
	 * below the stack pointer. */
	bool may_become_call;
	/* The kernel accepts a probe here if all of it lies within one page: then it makes a call
	 * of it, by SITE_NOP10. Not `probeable`, as that holds wherever the instruction lies. */
	bool is_nop10;
	bool fetches;	/* loads a register from the frame, as a function's end does */
	bool exclusive; /* of accesses to memory of which one makes the other fail if it traps
			   between */
	bool faults;	/* writes to the first page, where nobody has memory: *(int *)1 = 0 */
	bool dear;	/* may take more than a few dozen cycles, or is not known to take less */
};

_Static_assert(sizeof(struct insn) <= 64, "a cache line");

#define INSN_NOP10_SIZE 10

/* Whether it is a nop of ten bytes that can be probed where it lies, in memory as in the file. */
static inline bool insn_nop10_at(const struct insn *in, uint64_t vaddr)
{
	const uint64_t page = 4096;

	return in->is_nop10 && vaddr % page <= page - INSN_NOP10_SIZE;
}

/* The first member of every architecture's decoder. */
struct insn_decoder {
	const struct arch *arch;
	enum call_nops call_nops;
	bool spares_nop5, spares_calls;
};

/* Returns 0 or -ENOMEM. */
int insn_decoder__new(const struct arch *arch, enum call_nops call_nops, struct insn_decoder **out);
/* From now on what the kernel may make a call of counts as what cannot be probed. */
void insn_decoder__spare_nop5(struct insn_decoder *d);
/* From now on calls count as what cannot be probed. */
void insn_decoder__spare_calls(struct insn_decoder *d);
void insn_decoder__free(struct insn_decoder *d); /* accepts NULL */

/* Decodes one instruction from at most `len` bytes. Returns whether there is a valid one. */
bool insn_decode(struct insn_decoder *d, const uint8_t *bytes, size_t len, struct insn *out);

#endif
