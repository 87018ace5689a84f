// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compilers count where control goes from block to block, so this code stands between the lines
 * and belongs to none; but line tables know no such thing, and it seems to be of the line whose
 * code lies before it. A counter is loaded, raised and stored, or raised where it is. Where two
 * blocks were not neighbours, a jump has been added behind it.
 */
#include "lines/counting.h"

#include "arch/insn.h"
#include "symbol/counters.h"

#define MAX_STEPS 3 /* from an instruction that loads a counter to the one that stores it */

struct reader {
	const struct code_piece *piece;
	const uint8_t *reached;
	struct insn_decoder *insn;
};

/* Decodes the instruction at `at`, if control comes there. */
static bool read_insn(const struct reader *r, uint32_t at, struct insn *in)
{
	return at < r->piece->size && r->reached[at] && r->reached[at] != CODE_INSIDE &&
	       insn_decode(r->insn, r->piece->bytes + at, r->piece->size - at, in);
}

/* The address of the operand that an instruction has at a fixed place; 0: none. */
static uint64_t operand_of(const struct reader *r, uint32_t at, const struct insn *in)
{
	return in->near ? r->piece->vaddr + at + in->length + in->distance : 0;
}

/* Behind what the instruction at `at`, of which *in is made, does with its counter. */
static uint32_t end_of(const struct reader *r, uint32_t at, const struct insn *in)
{
	uint64_t counter = operand_of(r, at, in);
	uint32_t first = at + in->length, end = first;
	struct insn next;

	for (int i = 0; i < MAX_STEPS && read_insn(r, end, &next) && next.flow == FLOW_NEXT; i++) {
		if (operand_of(r, end, &next) == counter)
			return end + next.length;
		end += next.length;
	}
	return first;
}

void counting__mark(const struct counters *c, const struct code_piece *piece,
		    const uint8_t *reached, struct insn_decoder *insn, uint8_t *marks)
{
	struct reader r = {piece, reached, insn};
	struct insn in;

	for (uint32_t i = 0; c && i < piece->size; i++) {
		uint32_t end;

		if (!read_insn(&r, i, &in) || !in.near ||
		    !counters__hold(c, operand_of(&r, i, &in)))
			continue;
		end = end_of(&r, i, &in);
		for (; i < end; i++)
			marks[i] = COUNTING;
		if (read_insn(&r, end, &in) && in.flow == FLOW_JMP)
			marks[end] = COUNTING_JUMP;
		i = end - 1;
	}
}
