// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What does not switch stacks loads the stack pointer with a copy of it that the same function has
 * made: from a register, around arrays of variable length or where the stack is aligned anew; or
 * from its own frame, where it has put such a copy. What does loads it from where its arguments
 * lead to. Code is read from its first instruction to its last, as if it ran so, but for what it
 * copies anywhere.
 */
#include "code/stack_loads.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/operands.h"
#include "symbol/eh_frame.h"
#include "symbol/elf_image.h"

#define MAX_STRETCH (16u << 20) /* bytes of one function, or between two */
#define CHUNK	    (1u << 20)	/* bytes that are looked through in one go */
#define AHEAD	    ARCH_AHEAD
#define REGISTERS   OPERAND_REGISTERS
#define RSP	    OPERAND_STACK_POINTER
#define RBP	    OPERAND_FRAME_POINTER
#define NO_REGISTER OPERAND_NO_REGISTER
#define MAX_SLOTS   32

/* What is known of a function's copies of the stack pointer. */
struct copies {
	bool ever[REGISTERS];	 /* somewhere a register is loaded with the stack pointer */
	bool now[REGISTERS];	 /* it was loaded last with one that had been copied or kept */
	int64_t kept[MAX_SLOTS]; /* where: bytes from rsp or rbp, which may be equal */
	size_t kept_cnt;
	int pushed; /* register, by the last instruction; or NO_REGISTER */
};

/* The number of a register of 64 bits; NO_REGISTER: it is another. */
static int register_of(const struct operand *op)
{
	return op->kind == OPERAND_REGISTER && !op->part ? op->reg : NO_REGISTER;
}

/* The same of an address's. */
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

/* Whether the stack pointer may be loaded with the operand, or with an address in it. */
static bool is_own(const struct copies *c, const struct operand *op, bool address)
{
	int base = op->kind == OPERAND_MEMORY ? base_of(op) : NO_REGISTER;

	if (address)
		return base == RBP || (!op->part && op->index == RBP) ||
		       (base != NO_REGISTER && (c->ever[base] || c->now[base]));
	/* Compiled functions keep it below the frame pointer, and their cold pieces come apart. */
	return register_of(op) == RBP || is_copy(c, op) || (base == RBP && op->value < 0);
}

/* Notes what the instruction does to copies. */
static void follow(struct copies *c, const struct operands *in)
{
	bool moves = in->operation == OPERATION_MOV, leas = in->operation == OPERATION_LEA;
	int to = in->cnt ? register_of(&in->items[0]) : NO_REGISTER;

	c->pushed = in->operation == OPERATION_PUSH ? to : NO_REGISTER;
	if (in->operation == OPERATION_XCHG) {
		for (int i = 0; i < 2; i++) {
			int reg = register_of(&in->items[i]);

			if (reg != NO_REGISTER && register_of(&in->items[!i]) == RSP)
				c->now[reg] = true;
		}
	} else if (moves && to == NO_REGISTER) {
		if (is_slot(&in->items[0]) && is_copy(c, &in->items[1]) &&
		    !is_copy(c, &in->items[0]) && c->kept_cnt < MAX_SLOTS)
			c->kept[c->kept_cnt++] = in->items[0].value;
	} else if (in->operation == OPERATION_POP && to != NO_REGISTER) {
		c->now[to] = false;
	} else if ((moves || leas) && to != RSP && to != NO_REGISTER) {
		int base = leas ? base_of(&in->items[1]) : register_of(&in->items[1]);

		c->now[to] = leas ? base != NO_REGISTER && (c->ever[base] || c->now[base])
				  : is_copy(c, &in->items[1]);
		c->ever[to] |= base == RSP;
	}
}

static bool writes_stack_pointer(const struct operands *in)
{
	for (int i = 0; i < in->cnt; i++) {
		if (register_of(&in->items[i]) == RSP && (in->items[i].writes))
			return true;
	}
	return false;
}

/* Whether the instruction loads the stack pointer with something new. If it is not known to be
 * code, what data may look like does not count. */
static bool is_load(const struct copies *c, const struct operands *in, bool is_code)
{
	if (!writes_stack_pointer(in))
		return false;
	switch (in->operation) {
	case OPERATION_MOV:
		if (in->items[1].kind != OPERAND_MEMORY &&
		    register_of(&in->items[1]) == NO_REGISTER)
			return false; /* nobody does that: it is data */
		return !is_own(c, &in->items[1], false);
	case OPERATION_LEA:
		return is_code && !is_own(c, &in->items[1], true);
	case OPERATION_XCHG:
		return !is_own(c, &in->items[register_of(&in->items[0]) == RSP], false);
	case OPERATION_POP: /* else it takes back what the function has pushed */
		return is_code && register_of(&in->items[0]) == RSP && c->pushed != NO_REGISTER &&
		       !c->ever[c->pushed];
	default:
		return in->operation == OPERATION_CMOV && !is_own(c, &in->items[1], false);
	}
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
	c->pushed = NO_REGISTER;
	while (at < size) {
		if (!arch->operands(bytes + at, size - at, &in)) {
			at++;
			continue;
		}
		found |= is_load(c, &in, is_code);
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
