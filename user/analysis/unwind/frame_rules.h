/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the frame of a call and its caller are found: what unwind tables say, decoded. */
#ifndef PROFTRACE_UNWIND_FRAME_RULES_H
#define PROFTRACE_UNWIND_FRAME_RULES_H

#include <stdint.h>

/* The frame of the call that runs the instruction at `vaddr`: its upper end, behind the return
 * address, in bytes above a register (the CFA, DWARF 5, 6.4). */
enum eh_cfa_base {
	EH_CFA_UNKNOWN,
	EH_CFA_STACK_POINTER,
	EH_CFA_FRAME_POINTER,
};

struct eh_cfa {
	uint64_t vaddr, offset;
	enum eh_cfa_base base;
};

/* How the frame's address (CFA) of a call is found that is amid an instruction. */
enum eh_rule {
	EH_RULE_UNKNOWN,
	EH_RULE_RSP,	/* rsp + cfa_offset */
	EH_RULE_RBP,	/* rbp + cfa_offset */
	EH_RULE_RBX,	/* rbx + cfa_offset: the dynamic linker's code that binds imports lazily */
	EH_RULE_AT_RBP, /* the word at rbp + cfa_offset: code that aligns its stack */
	/* An import's stub: rsp + 8, and 8 more from byte `cfa_offset` of its 16 bytes on. */
	EH_RULE_STUB,
	EH_RULE_SIGNAL, /* what a signal has interrupted: all registers are in the ucontext at rsp
			 */
	EH_RULE_END,	/* the outermost call of a thread: there is no return address */
};

/* The place of the caller's rbp. */
enum eh_rbp {
	EH_RBP_SAME,
	EH_RBP_SAVED,  /* at the CFA less rbp_offset */
	EH_RBP_AT_RBP, /* where rbp points to */
	EH_RBP_UNKNOWN,
};

/* The rules from one address on. The return address is below the CFA, but for signals. */
struct eh_row {
	uint64_t vaddr;
	int64_t cfa_offset, rbp_offset;
	enum eh_rule rule;
	enum eh_rbp rbp;
};

#endif
