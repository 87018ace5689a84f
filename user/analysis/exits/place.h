/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the stack before an instruction of a function: where the return address is, seen
 * from the stack pointer and from registers that point into the frame. Inside exits/ only.
 */
#ifndef PROFTRACE_EXITS_PLACE_H
#define PROFTRACE_EXITS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct operands;

#define PLACE_REGISTERS 16	  /* OPERAND_REGISTERS */
#define PLACE_UNKNOWN	INT32_MIN /* a register that may hold anything */

/* Distances are bytes below the return address; above it they are negative. */
struct place {
	int32_t depth; /* of the stack pointer */
	/* By number, as in opcodes. The stack pointer's own is not used. */
	int32_t pointers[PLACE_REGISTERS];
	int32_t saved; /* where the caller's rbp has been put; 0: nowhere */
	int32_t times; /* a number in the register that counts repetitions; or PLACE_UNKNOWN */
	int32_t limit; /* the stack pointer has just been compared with this; or PLACE_UNKNOWN */
	/* If `moved`: `depth` at the last move by an unknown number of bytes, below which `depth`
	 * does not fall: what was pushed since may be popped, what was pushed before may not. */
	int32_t floor;
	uint32_t call;	    /* behind which this runs, as far as is known; 0: none */
	bool known;	    /* control comes here */
	bool queued;	    /* control is to be followed from here on */
	bool moved;	    /* the stack pointer is lower than `depth`, nobody knows how much */
	bool callers_frame; /* rbp is what the caller left in it */
};

/* At a function's entry. */
struct place place__at_entry(void);

/* Whether the stack pointer is at the same distance in both. */
bool place__agrees(const struct place *p, const struct place *other);

/* Takes over what may also hold. Returns whether that changes *p. */
bool place__join(struct place *p, const struct place *other);

/*
 * Changes *p as the instruction does, but for where it leads to. Sets *reaches_up if it gets at
 * what lies above the return address, as functions do that have arguments on the stack. Returns
 * NULL, or the reason why the function bears no return probe ("looks at its return address").
 */
const char *place__pass(struct place *p, const struct operands *in, bool *reaches_up);

/* A call has come back: registers that calls do not preserve are unknown. */
void place__pass_call(struct place *p, uint32_t preserved);

/* A conditional jump out of a loop has not been taken, or leads on: `equal` if what was compared
 * last is equal there. */
void place__leave_loop(struct place *p, bool equal);

/* Whether the stack pointer is where a return finds its address. */
bool place__is_way_out(const struct place *p);

#endif
