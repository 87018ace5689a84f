// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that does not switch stacks loads the stack pointer with a copy of it that the same function
 * has made: from a register, around arrays of variable length or where the stack is aligned anew;
 * or from its own frame, where it has put such a copy. What does loads it from where its arguments
 * lead to, or computes it: of the ways to do that, compilers make those alone that add or subtract
 * what an array takes, and align. Code is read from its first instruction to its last, as if it ran
 * so, but for what it copies anywhere.
 */
#include "code/stack_loads.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/operands.h"
#include "elf/elf_image.h"
#include "unwind/eh_frame.h"

#define MAX_STRETCH (16u << 20) /* bytes of one function, or between two */
#define CHUNK	    (1u << 20)	/* bytes that are looked through in one go */
#define AHEAD	    ARCH_AHEAD
#define REGISTERS   OPERAND_REGISTERS
#define RSP	    OPERAND_STACK_POINTER
#define RBP	    OPERAND_FRAME_POINTER
#define NO_REGISTER OPERAND_NO_REGISTER
#define MAX_SLOTS   32
#define EPILOGUE    24 /* instructions, at most, from a switch to where it leads */

/* Registers and slots in which a function keeps copies of the stack pointer. */
struct copies {
	bool ever[REGISTERS];	 /* somewhere a register is loaded with the stack pointer */
	bool now[REGISTERS];	 /* it was loaded last with one that had been copied or kept */
	bool gap[REGISTERS];	 /* it has last become the distance of one from something else */
	int64_t kept[MAX_SLOTS]; /* where: bytes from rsp or rbp, which may be equal */
	size_t kept_cnt;
	bool foreign_frame; /* rbp was loaded last from elsewhere than the stack */
	bool pushed;	    /* by the last instruction: something else than a copy */
};

/* The number of a register of 64 bits; NO_REGISTER: it is another. */
static int register_of(const struct operand *op)
{
	return op->kind == OPERAND_REGISTER && !op->part ? op->reg : NO_REGISTER;
}

/* The number of the register of 64 bits that an address is relative to; NO_REGISTER: another. */
static int base_of(const struct operand *op)
{
	return op->part ? NO_REGISTER : op->base;
}

/* Whether the operand is a fixed place in the frame. */
static bool is_slot(const struct operand *op)
{
	return op->kind == OPERAND_MEMORY && !op->indexed &&
	       (base_of(op) == RSP || base_of(op) == RBP);
}

/* Whether the operand has a copy. */
static bool is_copy(const struct copies *c, const struct operand *op)
{
	int reg = register_of(op);

	if (reg != NO_REGISTER)
		return c->ever[reg] || c->now[reg];
	for (size_t i = 0; is_slot(op) && i < c->kept_cnt; i++) {
		if (c->kept[i] == op->value)
			return true;
	}
	return false;
}

/* Whether the operand is, or adds to an address, a distance from a copy to something else. */
static bool adds_gap(const struct copies *c, const struct operand *op)
{
	int reg = register_of(op);

	if (op->kind == OPERAND_MEMORY && op->indexed && !op->part)
		reg = op->index;
	return reg != NO_REGISTER && c->gap[reg];
}

/* Whether the stack pointer may be loaded with the operand, or with an address in it. */
static bool is_own(const struct copies *c, const struct operand *op, bool address)
{
	int base = op->kind == OPERAND_MEMORY ? base_of(op) : NO_REGISTER;

	if (address)
		return !adds_gap(c, op) &&
		       ((base == RBP && !c->foreign_frame) || (!op->part && op->index == RBP) ||
			(base != NO_REGISTER && base != RBP && (c->ever[base] || c->now[base])));
	/* Compiled functions keep it below the frame pointer, and their cold pieces come apart. */
	if (register_of(op) == RBP)
		return !c->foreign_frame;
	return is_copy(c, op) || (base == RBP && op->value < 0);
}

/* Notes what becomes of the frame pointer: others' are loaded from what arguments lead to. */
static void follow_frame(struct copies *c, const struct operands *in)
{
	const struct operand *from = &in->items[1];

	if (in->operation == OPERATION_MOV && from->kind == OPERAND_MEMORY)
		c->foreign_frame = !is_slot(from) && base_of(from) != NO_REGISTER;
	else if (in->operation == OPERATION_MOV || in->operation == OPERATION_LEA ||
		 in->operation == OPERATION_POP)
		c->foreign_frame = false;
}

/* Notes what the instruction makes of a register that is not the stack pointer. */
static void follow_load(struct copies *c, const struct operands *in, int to)
{
	const struct operand *from = &in->items[1];
	bool leas = in->operation == OPERATION_LEA;
	int base;

	if (to == RBP)
		follow_frame(c, in);
	switch (in->operation) {
	case OPERATION_MOV:
	case OPERATION_LEA:
		base = leas ? base_of(from) : register_of(from);
		c->gap[to] = !leas && adds_gap(c, from);
		c->now[to] = leas ? base != NO_REGISTER && (c->ever[base] || c->now[base])
				  : is_copy(c, from);
		c->ever[to] |= base == RSP;
		break;
	case OPERATION_POP:
		c->now[to] = c->gap[to] = false;
		break;
	case OPERATION_SUB:
		/* The difference of a copy and a word in memory, or of a register and the stack
		 * pointer itself. */
		c->gap[to] = register_of(from) == RSP ||
			     (c->now[to] && from->kind == OPERAND_MEMORY && !is_slot(from));
		break;
	case OPERATION_XOR:
		c->gap[to] = register_of(from) == RSP;
		break;
	default:
		break;
	}
}

/* Notes what the instruction does to copies. */
static void follow(struct copies *c, const struct operands *in)
{
	const struct operand *first = &in->items[0];
	int to = in->cnt ? register_of(first) : NO_REGISTER;

	c->pushed = in->operation == OPERATION_PUSH && !is_copy(c, first) &&
		    (to != NO_REGISTER || (first->kind == OPERAND_MEMORY && !is_slot(first)));
	if (in->operation == OPERATION_XCHG) {
		for (int i = 0; i < 2; i++) {
			int reg = register_of(&in->items[i]);

			if (reg != NO_REGISTER && register_of(&in->items[!i]) == RSP)
				c->now[reg] = true;
		}
	} else if (to != NO_REGISTER && to != RSP) {
		follow_load(c, in, to);
	} else if (in->operation == OPERATION_MOV && to == NO_REGISTER) {
		if (is_slot(first) && is_copy(c, &in->items[1]) && !is_copy(c, first) &&
		    c->kept_cnt < MAX_SLOTS)
			c->kept[c->kept_cnt++] = first->value;
	}
}

/* Whether the stack pointer, or a part of it, is written by name. */
static bool writes_stack_pointer(const struct operands *in)
{
	for (int i = 0; i < in->cnt; i++) {
		const struct operand *op = &in->items[i];

		if (op->kind == OPERAND_REGISTER && op->reg == RSP && op->writes && !op->hidden)
			return true;
	}
	return false;
}

/* Whether a sum or difference gives the stack pointer something new: not if it makes room. */
static bool is_jump(const struct copies *c, const struct operand *by)
{
	return by->kind == OPERAND_MEMORY ? !is_slot(by) : adds_gap(c, by);
}

/* Whether the instruction, which writes the stack pointer, loads it with something new. */
static bool is_new(const struct copies *c, const struct operands *in)
{
	const struct operand *from = &in->items[1];
	bool constant = from->kind == OPERAND_CONSTANT;

	switch (in->operation) {
	case OPERATION_MOV:
		if (from->kind != OPERAND_MEMORY && register_of(from) == NO_REGISTER)
			return false; /* nobody does that: it is data */
		return !is_own(c, from, false);
	case OPERATION_LEA:
		return !is_own(c, from, true);
	case OPERATION_XCHG:
		return !is_own(c, &in->items[register_of(&in->items[0]) == RSP], false);
	case OPERATION_POP: /* else it takes back what the function has pushed */
		return c->pushed;
	case OPERATION_ADD:
	case OPERATION_SUB:
		return !constant && is_jump(c, from);
	case OPERATION_AND:
		return constant && from->value >= 0;
	case OPERATION_CMOV:
		return !is_own(c, from, false);
	default:
		return true;
	}
}

/* Whether these bytes read as what follows a switch: registers are restored, then it goes on. */
static bool leads_on(const struct arch *arch, const uint8_t *bytes, size_t size)
{
	struct operands in;
	size_t at = 0;

	for (int i = 0; i < EPILOGUE && at < size; i++) {
		if (!arch->operands(bytes + at, size - at, &in) || in.flow == OPERAND_FLOW_STOP)
			return false;
		if (in.flow == OPERAND_FLOW_RETURN ||
		    (in.flow == OPERAND_FLOW_JUMP && !in.relative))
			return true;
		at += in.length;
	}
	return false;
}

/* Whether the stack pointer is loaded with something new by the instruction at the beginning of
 * these bytes. What is not known to be code, and would be strange code, is data, unless it goes on
 * as a switch does. */
static bool is_load(const struct copies *c, const struct arch *arch, const struct operands *in,
		    const uint8_t *bytes, size_t size, bool is_code)
{
	bool usual = in->operation == OPERATION_MOV || in->operation == OPERATION_XCHG ||
		     in->operation == OPERATION_CMOV;

	if (!writes_stack_pointer(in) || !is_new(c, in))
		return false;
	return is_code || (in->width == 64 && (usual || leads_on(arch, bytes, size)));
}

/* Goes through the bytes once, and notes copies. Returns whether an instruction loads something
 * new. */
static bool pass(struct copies *c, const struct arch *arch, const uint8_t *bytes, size_t size,
		 bool is_code)
{
	struct operands in;
	bool found = false;
	size_t at = 0;

	memset(c->now, 0, sizeof(c->now));
	memset(c->gap, 0, sizeof(c->gap));
	c->foreign_frame = c->pushed = false;
	while (at < size) {
		if (!arch->operands(bytes + at, size - at, &in)) {
			at++;
			continue;
		}
		found |= is_load(c, arch, &in, bytes + at, size - at, is_code);
		follow(c, &in);
		at += in.length;
	}
	return found;
}

bool stack_loads__in(const struct arch *arch, const uint8_t *bytes, size_t size, bool is_code)
{
	struct copies copies = {.ever[RSP] = true};

	/* Again, as loops may copy further down what they load further up. */
	return pass(&copies, arch, bytes, size, is_code) &&
	       pass(&copies, arch, bytes, size, is_code);
}

/* A segment's code that is being looked through. */
struct search {
	const struct elf_image *img;
	const struct eh_range *ranges;
	size_t ranges_cnt;
	size_t range;  /* the first that ends behind what has been looked at */
	uint64_t done; /* vaddr up to where functions have been decoded */
	uint64_t end;
};

/* Looks at [from, to). What cannot be read may do anything. */
static bool load_between(const struct elf_image *img, uint64_t from, uint64_t to, bool is_code)
{
	uint64_t size = to - from;
	uint8_t *bytes = size <= MAX_STRETCH ? malloc(size) : NULL;
	bool found = !bytes || !elf_image__read_vaddr(img, from, bytes, size) ||
		     stack_loads__in(elf_image__arch(img), bytes, size, is_code);

	free(bytes);
	return found;
}

/* Looks at the function that has the byte at `vaddr`, or at what is between two: there may be code
 * without unwind rules. */
static bool load_around(struct search *s, uint64_t vaddr)
{
	uint64_t from = s->done, to = s->end;
	bool is_code = false;

	while (s->range < s->ranges_cnt && s->ranges[s->range].end <= vaddr)
		s->range++;
	if (s->range && s->ranges[s->range - 1].end > from)
		from = s->ranges[s->range - 1].end;
	if (s->range < s->ranges_cnt && s->ranges[s->range].start < s->end) {
		const struct eh_range *r = &s->ranges[s->range];

		is_code = r->start <= vaddr;
		if (is_code)
			from = r->start > s->done ? r->start : s->done;
		to = is_code ? r->end : r->start;
		to = to < s->end ? to : s->end;
	}
	s->done = to;
	return load_between(s->img, from, to, is_code);
}

/* Looks through `size` bytes at `vaddr`, behind which AHEAD more can be read. */
static bool load_in_chunk(struct search *s, const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	const struct arch *arch = elf_image__arch(s->img);

	for (size_t at = 0; (at = arch->find_stack_load(bytes, at, size)) < size; at++) {
		if (vaddr + at + 1 >= s->done && load_around(s, vaddr + at + 1))
			return true;
	}
	return false;
}

static bool load_in_segment(struct search *s, uint64_t vaddr)
{
	uint8_t *bytes = malloc(CHUNK + AHEAD);
	bool found = !bytes;

	for (; !found && vaddr < s->end; vaddr += CHUNK) {
		size_t ahead = s->end - vaddr, size = ahead < CHUNK ? ahead : CHUNK;

		ahead = ahead < CHUNK + AHEAD ? ahead : CHUNK + AHEAD;
		memset(bytes + ahead, 0, CHUNK + AHEAD - ahead);
		found = !elf_image__read_vaddr(s->img, vaddr, bytes, ahead) ||
			load_in_chunk(s, bytes, size, vaddr);
	}
	free(bytes);
	return found;
}

bool stack_loads__any(const struct elf_image *img, const struct eh_frame *eh)
{
	size_t segments_cnt, ranges_cnt = 0;
	const struct elf_segment *segments = elf_image__segments(img, &segments_cnt);
	const struct eh_range *ranges = eh ? eh_frame__ranges(eh, &ranges_cnt) : NULL;

	if (!elf_image__arch(img)->operands)
		return true;
	for (size_t i = 0; i < segments_cnt; i++) {
		struct search s = {
			.img = img,
			.ranges = ranges,
			.ranges_cnt = ranges_cnt,
			.done = segments[i].vaddr,
			.end = segments[i].vaddr + segments[i].filesz,
		};

		if (segments[i].exec && load_in_segment(&s, segments[i].vaddr))
			return true;
	}
	return false;
}
