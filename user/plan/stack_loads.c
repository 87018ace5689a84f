// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compilers load the stack pointer from copies of it alone, which the same function has made: from
 * the frame pointer, around arrays of variable length, or where the stack is aligned anew.
 */
#include "plan/stack_loads.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/eh_frame.h"
#include "symbol/elf_image.h"

#define MAX_STRETCH (16u << 20)			   /* bytes that are looked at in one go */
#define ELSEWHERE   (ZYDIS_REGISTER_MAX_VALUE + 1) /* no register: memory, or an exchange */

static bool is(ZydisRegister reg, ZydisRegister wide)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == wide;
}

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister wide)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && is(op->reg.value, wide);
}

static bool is_written(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	for (int i = 0; i < in->operand_count; i++) {
		if (is_register(&ops[i], ZYDIS_REGISTER_RSP) &&
		    (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	}
	return false;
}

/* Whether an instruction that loads the stack pointer may begin within these bytes: cheap, and
 * mostly right. */
static bool may_load(const uint8_t *b)
{
	bool wide =
		(b[0] & 0xfc) == 0x48; /* a prefix for 64 bits, and a target without number + 8 */

	switch (b[1]) {
	case 0x8b:
	case 0x8d:
		return wide && (b[2] & 0x38) == 0x20;
	case 0x87:
		return (b[0] & 0xf8) == 0x48 && ((b[2] & 0x38) == 0x20 || (b[2] & 0xc7) == 0xc4);
	case 0x89:
		return (b[0] & 0xf9) == 0x48 && (b[2] & 0xc7) == 0xc4;
	case 0x94:
		return (b[0] & 0xfe) == 0x48;
	case 0x5c: /* pop, unless it is an operand's: [rsp + N] */
		return b[2] != 0x24;
	case 0x0f: /* cmov */
		return wide && (b[2] & 0xf0) == 0x40 && (b[3] & 0x38) == 0x20;
	default:
		return false;
	}
}

/* Which register an instruction loads the stack pointer from, or NONE; MAX_VALUE: from memory, or
 * in a way that only switches need. */
static int source_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	if (!is_written(in, ops))
		return ZYDIS_REGISTER_NONE;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
			return ops[1].reg.value;
		/* One that was kept in the frame. */
		return ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
				       ops[1].mem.base == ZYDIS_REGISTER_RBP &&
				       ops[1].mem.disp.value < 0
			       ? ZYDIS_REGISTER_RBP
			       : ELSEWHERE;
	case ZYDIS_MNEMONIC_LEA:
		return ops[1].mem.base;
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_POP:
		return is_register(&ops[0], ZYDIS_REGISTER_RSP) ||
				       (in->mnemonic == ZYDIS_MNEMONIC_XCHG &&
					is_register(&ops[1], ZYDIS_REGISTER_RSP))
			       ? ELSEWHERE
			       : ZYDIS_REGISTER_NONE;
	default:
		return in->meta.category == ZYDIS_CATEGORY_CMOV ? ELSEWHERE : ZYDIS_REGISTER_NONE;
	}
}

/* The register that an instruction copies the stack pointer to, or NONE. */
static ZydisRegister copy_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	bool copies =
		(in->mnemonic == ZYDIS_MNEMONIC_MOV && is_register(&ops[1], ZYDIS_REGISTER_RSP)) ||
		(in->mnemonic == ZYDIS_MNEMONIC_LEA && ops[1].mem.base == ZYDIS_REGISTER_RSP);

	return copies && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? ops[0].reg.value
								    : ZYDIS_REGISTER_NONE;
}

/* Whether some instruction loads what none has copied. */
static bool has_load(const uint8_t *bytes, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	bool copied[ELSEWHERE + 1] = {0}, loaded[ELSEWHERE + 1] = {0};
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	copied[ZYDIS_REGISTER_NONE] = true;
	copied[ZYDIS_REGISTER_RSP] = copied[ZYDIS_REGISTER_RBP] = true;
	while (at < size) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, bytes + at, size - at, &in, ops))) {
			at++;
			continue;
		}
		copied[copy_of(&in, ops)] = true;
		loaded[source_of(&in, ops)] = true;
		at += in.length;
	}
	for (size_t reg = 0; reg <= ELSEWHERE; reg++) {
		if (loaded[reg] && !copied[reg])
			return true;
	}
	return false;
}

bool stack_loads__in(const uint8_t *bytes, size_t size)
{
	uint8_t last[7] = {0};

	for (size_t at = 0; at + 4 <= size; at++) {
		if (may_load(bytes + at))
			return has_load(bytes, size);
	}
	/* What begins in the last three bytes. */
	memcpy(last, bytes + (size > 3 ? size - 3 : 0), size > 3 ? 3 : size);
	for (size_t at = 0; at < 3; at++) {
		if (may_load(last + at))
			return has_load(bytes, size);
	}
	return false;
}

/* Looks at [from, to), all of it in one segment. What cannot be read may do anything. */
static bool load_between(const struct elf_image *img, uint64_t from, uint64_t to)
{
	uint64_t size = to - from;
	uint8_t *bytes;
	bool found;

	if (from >= to)
		return false;
	bytes = size <= MAX_STRETCH ? malloc(size) : NULL;
	found = !bytes || !elf_image__read_vaddr(img, from, bytes, size) ||
		stack_loads__in(bytes, size);
	free(bytes);
	return found;
}

bool stack_loads__any(const struct elf_image *img, const struct eh_frame *eh)
{
	size_t segments_cnt, ranges_cnt = 0;
	const struct elf_segment *segments = elf_image__segments(img, &segments_cnt);
	const struct eh_range *ranges = eh ? eh_frame__ranges(eh, &ranges_cnt) : NULL;

	for (size_t s = 0; s < segments_cnt; s++) {
		uint64_t at = segments[s].vaddr, end = at + segments[s].filesz;

		if (!segments[s].exec)
			continue;
		/* Between the ranges as well: there may be code without unwind rules. */
		for (size_t i = 0; i < ranges_cnt; i++) {
			if (ranges[i].start < at || ranges[i].end > end)
				continue;
			if (load_between(img, at, ranges[i].start) ||
			    load_between(img, ranges[i].start, ranges[i].end))
				return true;
			at = ranges[i].end;
		}
		if (load_between(img, at, end))
			return true;
	}
	return false;
}
