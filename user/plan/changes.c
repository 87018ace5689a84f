// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/changes.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>

#include "plan/arguments.h"

static uint32_t register_bit(ZydisRegister reg)
{
	static const ZydisRegister order[ARGUMENT_REGISTERS] = {
		ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX,
		ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8,	ZYDIS_REGISTER_R9,
	};
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	for (int i = 0; i < ARGUMENT_REGISTERS; i++) {
		if (order[i] == whole)
			return 1u << i;
	}
	return 0;
}

static uint32_t changes_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
	/* Below the stack pointer, where no argument is. */
	bool pushes = in->mnemonic == ZYDIS_MNEMONIC_PUSH || in->mnemonic == ZYDIS_MNEMONIC_CALL;
	uint32_t changes = 0;

	for (int i = 0; i < in->operand_count; i++) {
		const ZydisDecodedOperand *op = &operands[i];

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
			changes |= register_bit(op->reg.value);
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && !pushes)
			changes |= ARGUMENTS_NEED_MEMORY;
	}
	return changes;
}

uint32_t changes__before(const uint8_t *code, size_t size, uint32_t offset)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	uint32_t changes = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint32_t at = 0; at < offset; at += in.length) {
		if (at >= size || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at,
								       size - at, &in, operands)))
			return ~0u;
		/* The kernel may change whatever its caller wants. */
		if (in.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
			return ~0u;
		changes |= changes_of(&in, operands);
	}
	return changes;
}
