/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers and memory of one instruction, for those who follow values through code: where a
 * copy of the stack pointer goes, what is read near the return address. More than arch/insn.h says,
 * and dearer to find out.
 */
#ifndef PROFTRACE_ARCH_OPERANDS_H
#define PROFTRACE_ARCH_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPERANDS_MAX	    10
#define OPERAND_REGISTERS   16 /* at most; numbered as in instructions */
#define OPERAND_NO_REGISTER 16 /* none of these, but of vectors, flags, ... */
/* Two that have a role; architectures that number them in another way exchange numbers. */
#define OPERAND_STACK_POINTER 4
#define OPERAND_FRAME_POINTER 5

/* Operations that are told apart, by the names of x86-64's. */
enum operation {
	OPERATION_OTHER,
	OPERATION_MOV, /* between general registers, memory and constants */
	OPERATION_LEA,
	OPERATION_ADD,
	OPERATION_SUB,
	OPERATION_SBB,
	OPERATION_AND,
	OPERATION_OR,
	OPERATION_XOR,
	OPERATION_CMP,
	OPERATION_TEST,
	OPERATION_CMOV,
	OPERATION_XCHG,
	OPERATION_PUSH,
	OPERATION_PUSH_FLAGS,
	OPERATION_POP,
	OPERATION_POP_FLAGS,
	OPERATION_COPY,	 /* of memory, one or more elements: movs, rep movs */
	OPERATION_LEAVE, /* stack pointer := frame pointer, which is popped then */
	OPERATION_CALL,
	OPERATION_RETURN,
	OPERATION_NOP,
	OPERATION_LANDING, /* where indirect branches may lead: endbr64 */
	OPERATION_TRAP,	   /* never goes on: ud2, hlt */
	OPERATION_BREAKPOINT,
};

/* Where control goes after the instruction. */
enum operand_flow {
	OPERAND_FLOW_NEXT,
	OPERAND_FLOW_CALL,
	OPERAND_FLOW_JUMP,
	OPERAND_FLOW_BRANCH, /* a jump that may be taken */
	OPERAND_FLOW_RETURN, /* by the address on top of the stack, and no more is taken from it */
	OPERAND_FLOW_RETURN_OTHER,
	OPERAND_FLOW_SYSTEM_CALL,
	OPERAND_FLOW_SYSTEM_CALL_OTHER, /* goes on elsewhere */
	OPERAND_FLOW_INTERRUPT,		/* a system call, perhaps */
	OPERAND_FLOW_STOP,
};

enum operand_kind {
	OPERAND_OTHER,
	OPERAND_REGISTER,
	OPERAND_MEMORY,
	OPERAND_CONSTANT,
};

struct operand {
	uint8_t kind; /* enum operand_kind */
	bool reads, writes;
	bool hidden;	   /* not named by the instruction: what a push writes */
	bool part;	   /* of 64 bits: the register, or those of the address */
	bool address_only; /* the memory is pointed at, not used */
	uint8_t reg;	   /* the register, or the whole one that it is a part of */
	uint8_t base, index;
	bool indexed;  /* by whatever register */
	uint16_t size; /* of memory, bytes */
	int64_t value; /* the constant, or what is added to the address */
};

struct operands {
	uint8_t length;
	uint8_t operation; /* enum operation */
	uint8_t flow;	   /* enum operand_flow */
	uint8_t width;	   /* bits that it works on */
	uint8_t cnt;
	bool locks;
	bool relative;		   /* jumps and calls: to `target` behind the end */
	bool if_equal, if_unequal; /* branches: after a comparison */
	int64_t target;
	struct operand items[OPERANDS_MAX]; /* in the order of Intel's manual: targets first */
};

#endif
