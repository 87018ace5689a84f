// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which instructions at functions' entries our programs emulate: those that only compute a register
 * from others and a constant. Not among them:
 *
 * - what reads memory: a copy by the kernel may be one of single bytes, and so be half of an old
 *   value and half of a new one where the instruction would read one or the other;
 * - what moves the stack pointer: the kernel arms return probes, ours or another profiler's, behind
 *   our program, and takes the word at the stack pointer for the return address;
 * - what changes a register with an argument: the programs of other profilers, which are called
 *   behind ours, read arguments there.
 */
#include <Zydis/Zydis.h>
#include <pthread.h>

#include "arch/arch.h"
#include "arch/x86_64/x86_64.h"
#include "wire.h"

#define STACK_POINTER 4

static ZydisDecoder decoder;

static void init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* The number of a general register of 64 bits, or of 32; WIRE_NO_REGISTER: it is another. */
static uint8_t number_of(ZydisRegister reg)
{
	if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
		return reg - ZYDIS_REGISTER_RAX;
	if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
		return reg - ZYDIS_REGISTER_EAX;
	return WIRE_NO_REGISTER;
}

/* Whether others may read the register, and want to see it as it was at the entry. */
static bool is_argument(uint8_t number)
{
	for (size_t i = 0; i < arch_x86_64.arguments_cnt; i++) {
		if (arch_x86_64.arguments[i] == number)
			return true;
	}
	return false;
}

/* A register that is named, of `bits`. */
static bool register_of(const ZydisDecodedOperand *op, uint16_t bits, uint8_t *number)
{
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->size != bits)
		return false;
	*number = number_of(op->reg.value);
	return *number != WIRE_NO_REGISTER;
}

/* `mov` of a register or a constant. */
static bool from_mov(const ZydisDecodedOperand *from, uint16_t bits, struct wire_emulation *out)
{
	if (from->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return register_of(from, bits, &out->base);
	out->constant = from->imm.value.s;
	return true;
}

static bool from_lea(const ZydisDecodedOperand *from, struct wire_emulation *out)
{
	if (from->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return false;
	out->constant = from->mem.disp.value;
	out->shift = from->mem.scale == 8   ? 3
		     : from->mem.scale == 4 ? 2
		     : from->mem.scale == 2 ? 1
					    : 0;
	if (from->mem.index != ZYDIS_REGISTER_NONE) {
		out->index = number_of(from->mem.index);
		if (out->index == WIRE_NO_REGISTER)
			return false;
	}
	if (from->mem.base == ZYDIS_REGISTER_RIP) {
		out->flags |= WIRE_EMULATE_BY_IP;
	} else if (from->mem.base != ZYDIS_REGISTER_NONE) {
		out->base = number_of(from->mem.base);
		return out->base != WIRE_NO_REGISTER;
	}
	return true;
}

/* Fills in *out for instructions with a target and a source operand; false: there is no rule. */
static bool computes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
		     struct wire_emulation *out)
{
	uint16_t bits = ops[0].size;
	uint8_t same;

	if (!register_of(&ops[0], bits, &out->to) || is_argument(out->to) ||
	    out->to == STACK_POINTER)
		return false;
	out->flags = bits == 32 ? WIRE_EMULATE_32 : 0;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return from_mov(&ops[1], bits, out);
	case ZYDIS_MNEMONIC_LEA:
		return from_lea(&ops[1], out);
	case ZYDIS_MNEMONIC_MOVSXD:
		out->flags |= WIRE_EMULATE_SIGNED;
		return bits == 64 && register_of(&ops[1], 32, &out->base);
	case ZYDIS_MNEMONIC_XOR: /* with itself: 0 */
		out->flags |= WIRE_EMULATE_ZERO;
		return register_of(&ops[1], bits, &same) && same == out->to;
	default:
		return false;
	}
}

bool x86_64_emulation__of(const uint8_t *bytes, size_t len, struct wire_emulation *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	pthread_once(&once, init);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &in, ops)))
		return false;
	*out = (struct wire_emulation){.length = in.length,
				       .to = WIRE_NO_REGISTER,
				       .base = WIRE_NO_REGISTER,
				       .index = WIRE_NO_REGISTER};
	if (in.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return true;
	/* The opcode comes first, or behind a REX prefix: others change sizes or addresses. */
	if (in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    in.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT ||
	    bytes[(bytes[0] & 0xf0) == 0x40] != in.opcode || in.operand_count < 2)
		return false;
	return computes(&in, ops, out);
}
