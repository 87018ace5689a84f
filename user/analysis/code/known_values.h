/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of registers that are known on one way through code: numbers, and addresses in the
 * frame.
 * Example: behind `lea buffer(%rip), %rdi` rdi is known to be the address of `buffer`. */
#ifndef PROFTRACE_CODE_KNOWN_VALUES_H
#define PROFTRACE_CODE_KNOWN_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/operands.h"

#define KNOWN_SLOTS 4

struct known_value {
	enum { VALUE_UNKNOWN, VALUE_NUMBER, VALUE_IN_FRAME } kind;
	int64_t number; /* VALUE_NUMBER */
};

struct known_values {
	struct known_value registers[OPERAND_REGISTERS];
	/* Numbers that the code has put into its frame. */
	struct known_slot {
		bool used;
		uint8_t base;
		int64_t offset, number;
	} slots[KNOWN_SLOTS];
	uint8_t slots_next;
	bool compared, equal; /* what the last comparison has come to, if that is known */
};

/* Sets what is known at a function's first instruction. */
void known_values__begin(struct known_values *v);

/* An instruction at `vaddr` that runs on behind itself. */
void known_values__pass(struct known_values *v, const struct operands *in, uint64_t vaddr);

/* A call that has come back; `preserved` as in struct arch. */
void known_values__pass_call(struct known_values *v, uint32_t preserved);

#endif
