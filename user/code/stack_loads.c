// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What does not switch stacks loads the stack pointer with a copy of it that the same function has
 * made: from a register, around arrays of variable length or where the stack is aligned anew; or
 * from its own frame, where it has put such a copy. What does loads it from where its arguments
 * lead to. Code is read from its first instruction to its last, as if it ran so, but for what it
 * copies anywhere.
 */
#include "code/stack_loads.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/eh_frame.h"
#include "symbol/elf_image.h"

#define MAX_STRETCH (16u << 20) /* bytes of one function, or between two */
#define CHUNK	    (1u << 20)	/* bytes that are looked through in one go */
#define STEP	    64		/* of which has_candidate() looks at so many */
#define AHEAD	    (STEP + 8)	/* bytes behind them that are looked at, at most */
#define REGISTERS   16
#define RSP	    4
#define RBP	    5
#define NO_REGISTER REGISTERS
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
static int number_of(ZydisRegister reg)
{
	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
		return NO_REGISTER;
	return reg - ZYDIS_REGISTER_RAX;
}

static int register_of(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op->reg.value) : NO_REGISTER;
}

/* Whether the operand is a fixed place in the frame. */
static bool is_slot(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
	       (op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_RBP);
}

/* Whether the operand has a copy. */
static bool is_copy(const struct copies *c, const ZydisDecodedOperand *op)
{
	int reg = register_of(op);

	if (reg != NO_REGISTER)
		return c->ever[reg] || c->now[reg];
	for (size_t i = 0; is_slot(op) && i < c->kept_cnt; i++) {
		if (c->kept[i] == op->mem.disp.value)
			return true;
	}
	return false;
}

/* Whether the stack pointer may be loaded with the operand, or with an address in it. */
static bool is_own(const struct copies *c, const ZydisDecodedOperand *op, bool address)
{
	int base = op->type == ZYDIS_OPERAND_TYPE_MEMORY ? number_of(op->mem.base) : NO_REGISTER;

	if (address)
		return base == RBP || op->mem.index == ZYDIS_REGISTER_RBP ||
		       (base != NO_REGISTER && (c->ever[base] || c->now[base]));
	/* Compiled functions keep it below the frame pointer, and their cold pieces come apart. */
	return register_of(op) == RBP || is_copy(c, op) || (base == RBP && op->mem.disp.value < 0);
}

/* Notes what the instruction does to copies. */
static void follow(struct copies *c, const ZydisDecodedInstruction *in,
		   const ZydisDecodedOperand *ops)
{
	bool moves = in->mnemonic == ZYDIS_MNEMONIC_MOV, leas = in->mnemonic == ZYDIS_MNEMONIC_LEA;
	int to = in->operand_count ? register_of(&ops[0]) : NO_REGISTER;

	c->pushed = in->mnemonic == ZYDIS_MNEMONIC_PUSH ? to : NO_REGISTER;
	if (in->mnemonic == ZYDIS_MNEMONIC_XCHG) {
		for (int i = 0; i < 2; i++) {
			int reg = register_of(&ops[i]);

			if (reg != NO_REGISTER && register_of(&ops[!i]) == RSP)
				c->now[reg] = true;
		}
	} else if (moves && to == NO_REGISTER) {
		if (is_slot(&ops[0]) && is_copy(c, &ops[1]) && !is_copy(c, &ops[0]) &&
		    c->kept_cnt < MAX_SLOTS)
			c->kept[c->kept_cnt++] = ops[0].mem.disp.value;
	} else if (in->mnemonic == ZYDIS_MNEMONIC_POP && to != NO_REGISTER) {
		c->now[to] = false;
	} else if ((moves || leas) && to != RSP && to != NO_REGISTER) {
		int base = leas ? number_of(ops[1].mem.base) : register_of(&ops[1]);

		c->now[to] = leas ? base != NO_REGISTER && (c->ever[base] || c->now[base])
				  : is_copy(c, &ops[1]);
		c->ever[to] |= base == RSP;
	}
}

static bool writes_stack_pointer(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	for (int i = 0; i < in->operand_count; i++) {
		if (register_of(&ops[i]) == RSP &&
		    (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	}
	return false;
}

/* Whether the instruction loads the stack pointer with something new. If it is not known to be
 * code, what data may look like does not count. */
static bool is_load(const struct copies *c, const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *ops, bool is_code)
{
	if (!writes_stack_pointer(in, ops))
		return false;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (ops[1].type != ZYDIS_OPERAND_TYPE_MEMORY && register_of(&ops[1]) == NO_REGISTER)
			return false; /* nobody does that: it is data */
		return !is_own(c, &ops[1], false);
	case ZYDIS_MNEMONIC_LEA:
		return is_code && !is_own(c, &ops[1], true);
	case ZYDIS_MNEMONIC_XCHG:
		return !is_own(c, &ops[register_of(&ops[0]) == RSP], false);
	case ZYDIS_MNEMONIC_POP: /* else it takes back what the function has pushed */
		return is_code && register_of(&ops[0]) == RSP && c->pushed != NO_REGISTER &&
		       !c->ever[c->pushed];
	default:
		return in->meta.category == ZYDIS_CATEGORY_CMOV && !is_own(c, &ops[1], false);
	}
}

/* Goes through the bytes once, and notes copies. Returns whether an instruction loads something
 * new. */
static bool pass(struct copies *c, const ZydisDecoder *decoder, const uint8_t *bytes, size_t size,
		 bool is_code)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	bool found = false;
	size_t at = 0;

	memset(c->now, 0, sizeof(c->now));
	c->pushed = NO_REGISTER;
	while (at < size) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(decoder, bytes + at, size - at, &in, ops))) {
			at++;
			continue;
		}
		found |= is_load(c, &in, ops, is_code);
		follow(c, &in, ops);
		at += in.length;
	}
	return found;
}

bool stack_loads__in(const uint8_t *bytes, size_t size, bool is_code)
{
	struct copies copies = {.ever[RSP] = true};
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	/* Again, as loops may copy further down what they load further up. */
	return pass(&copies, &decoder, bytes, size, is_code) &&
	       pass(&copies, &decoder, bytes, size, is_code);
}

typedef uint8_t vector __attribute__((vector_size(16)));

/* Where in 16 places an instruction that loads the stack pointer may begin, by its first three
 * bytes; a pop by a push before it. What may_load() wants is among it. */
static vector find_candidates(const uint8_t *bytes)
{
	vector rex, opcode, operand, wide, by_reg, by_rm;

	memcpy(&rex, bytes, sizeof(rex));
	memcpy(&opcode, bytes + 1, sizeof(opcode));
	memcpy(&operand, bytes + 2, sizeof(operand));
	wide = (vector)((rex & 0xfc) == 0x48);
	by_reg = wide & (vector)((operand & 0x38) == 0x20);
	by_rm = (vector)((rex & 0xf9) == 0x48) & (vector)((operand & 0xc7) == 0xc4);
	return ((vector)((opcode & 0xf1) == 0x81) & (by_reg | by_rm)) |
	       ((vector)(opcode == 0x0f) & wide & (vector)((operand & 0xf0) == 0x40)) |
	       ((vector)(opcode == 0x94) & wide) |
	       ((vector)(opcode == 0x5c) & (vector)((rex & 0xf8) == 0x50));
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

/* Whether an instruction that may load the stack pointer with something new begins with these
 * bytes: cheap, and mostly right. */
static bool may_load(const uint8_t *b)
{
	bool wide = (b[0] & 0xfc) == 0x48, by_reg = wide && (b[2] & 0x38) == 0x20;
	uint8_t rm = b[2] & 0xc7;

	switch (b[1]) {
	case 0x8b: /* unless from rbp, or below it */
		return by_reg && !(b[0] == 0x48 && (rm == 0xc5 || (rm == 0x45 && b[3] & 0x80) ||
						    (rm == 0x85 && b[6] & 0x80)));
	case 0x8d: /* unless rbp or rsp, and a number */
		return by_reg && !(b[0] == 0x48 && (rm == 0x45 || rm == 0x85 ||
						    ((rm == 0x44 || rm == 0x84) && b[3] == 0x24)));
	case 0x87:
		return by_reg || ((b[0] & 0xf9) == 0x48 && rm == 0xc4);
	case 0x89: /* unless rbp */
		return (b[0] & 0xf9) == 0x48 && rm == 0xc4 && !(b[0] == 0x48 && b[2] == 0xec);
	case 0x94:
		return (b[0] & 0xfe) == 0x48;
	case 0x5c: /* pop, behind a push */
		return (b[0] & 0xf8) == 0x50;
	case 0x0f: /* cmov */
		return wide && (b[2] & 0xf0) == 0x40 && (b[3] & 0x38) == 0x20;
	default:
		return false;
	}
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
		     stack_loads__in(bytes, size, is_code);

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
	for (size_t at = 0; at < size; at++) {
		if (at % STEP == 0 && !has_candidate(bytes + at)) {
			at += STEP - 1;
			continue;
		}
		if (may_load(bytes + at) && vaddr + at + 1 >= s->done &&
		    load_around(s, vaddr + at + 1))
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
