// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds quickly, in much code, where an instruction may load the stack pointer: at the speed at
 * which memory is read. */
#include <string.h>

#include "arch/arch.h"
#include "arch/x86_64/x86_64.h"

#define STEP 64 /* bytes that has_candidate() looks at */

_Static_assert(ARCH_AHEAD >= STEP + 8, "bytes are read behind the end");

typedef uint8_t vector __attribute__((vector_size(16)));

/* Marks those of 16 places where an instruction that loads the stack pointer may begin, by its
 * first three bytes; a pop by a push before it. All that may_load() accepts is marked. */
static vector find_candidates(const uint8_t *bytes)
{
	vector rex, opcode, operand, wide, by_reg, by_rm, other;

	memcpy(&rex, bytes, sizeof(rex));
	memcpy(&opcode, bytes + 1, sizeof(opcode));
	memcpy(&operand, bytes + 2, sizeof(operand));
	wide = (vector)((rex & 0xfc) == 0x48);
	by_reg = wide & (vector)((operand & 0x38) == 0x20);
	by_rm = (vector)((rex & 0xf9) == 0x48) & (vector)((operand & 0xc7) == 0xc4);
	other = (vector)(operand == 0x7e) | (vector)(operand == 0xaf) | (vector)(operand == 0xb1) |
		(vector)(operand == 0xc1);
	return ((vector)((opcode & 0xf1) == 0x81) & (by_reg | by_rm)) |
	       ((vector)((opcode & 0xc5) == 0x01) & (by_reg | by_rm)) |
	       ((vector)(opcode == 0x0f) & wide & ((vector)((operand & 0xf0) == 0x40) | other)) |
	       ((vector)(opcode == 0x94) & wide) |
	       ((vector)(opcode == 0x5c) & (vector)((rex & 0xf8) == 0x50)) |
	       ((vector)((opcode & 0xb8) == 0x30) & (vector)(rex == 0xff));
}

static bool has_candidate(const uint8_t bytes[STEP])
{
	vector any = {0};
	uint64_t halves[2];

	for (size_t i = 0; i < STEP; i += sizeof(any))
		any |= find_candidates(bytes + i);
	memcpy(halves, &any, sizeof(halves));
	return halves[0] | halves[1];
}

/* Whether an instruction whose opcode is 0f and another byte may do so. */
static bool may_load_0f(const uint8_t *b)
{
	bool by_reg = (b[3] & 0x38) == 0x20, by_rm = (b[0] & 0xf9) == 0x48 && (b[3] & 0xc7) == 0xc4;

	switch (b[2]) {
	case 0x40 ... 0x4f: /* cmov */
	case 0xaf:	    /* imul */
		return by_reg;
	case 0x7e: /* movq of a vector register */
	case 0xb1: /* cmpxchg */
	case 0xc1: /* xadd */
		return by_rm;
	default:
		return false;
	}
}

/* Whether an instruction that may load the stack pointer with something new begins with these
 * bytes: cheap, and mostly right. */
static bool may_load(const uint8_t *b)
{
	bool wide = (b[0] & 0xfc) == 0x48, by_reg = wide && (b[2] & 0x38) == 0x20;
	bool by_rm = (b[0] & 0xf9) == 0x48 && (b[2] & 0xc7) == 0xc4;
	uint8_t rm = b[2] & 0xc7, extension = b[2] >> 3 & 7;

	switch (b[1]) {
	case 0x01: /* add, or, adc, sbb, and, sub, xor: to the stack pointer from a register */
	case 0x09:
	case 0x11:
	case 0x19:
	case 0x21:
	case 0x29:
	case 0x31:
		return by_rm || (b[0] == 0xff && b[2] == 0x5c);
	case 0x03: /* ... or from memory */
	case 0x0b:
	case 0x13:
	case 0x1b:
	case 0x23:
	case 0x2b:
		return by_reg;
	case 0x33:
		return by_reg || (b[0] == 0xff && b[2] == 0x5c);
	case 0x30: /* push of memory, then pop */
	case 0x32:
	case 0x36:
	case 0x37:
		return b[0] == 0xff && b[2] == 0x5c;
	case 0x70 ... 0x77:
		return b[0] == 0xff && b[3] == 0x5c;
	case 0x81: /* or, xor with a number, and with one that does not align */
	case 0x83:
		return by_rm && (extension == 1 || extension == 6 ||
				 (extension == 4 && !(b[b[1] == 0x81 ? 6 : 3] & 0x80)));
	case 0x8b: /* unless from below rbp */
		return by_reg && !(b[0] == 0x48 &&
				   ((rm == 0x45 && b[3] & 0x80) || (rm == 0x85 && b[6] & 0x80)));
	case 0x8d: /* unless rbp or rsp, and a number */
		return by_reg && !(b[0] == 0x48 && (rm == 0x45 || rm == 0x85 ||
						    ((rm == 0x44 || rm == 0x84) && b[3] == 0x24)));
	case 0x87:
		return by_reg || by_rm;
	case 0x89:
		return by_rm;
	case 0x94:
		return (b[0] & 0xfe) == 0x48;
	case 0x5c: /* pop, behind a push */
		return (b[0] & 0xf8) == 0x50;
	case 0x0f:
		return wide && may_load_0f(b);
	default:
		return false;
	}
}

size_t x86_64_stack_loads__find(const uint8_t *bytes, size_t from, size_t size)
{
	for (size_t at = from; at < size; at++) {
		if (at % STEP == 0 && !has_candidate(bytes + at))
			at += STEP - 1;
		else if (may_load(bytes + at))
			return at;
	}
	return size;
}
