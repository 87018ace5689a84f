// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/changes.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "arch/operands.h"
#include "select/arguments.h"

static uint32_t register_bit(const struct arch *arch, uint8_t reg)
{
	for (int i = 0; i < arch->arguments_cnt; i++) {
		if (arch->arguments[i] == reg)
			return 1u << i;
	}
	return 0;
}

static uint32_t changes_of(const struct arch *arch, const struct operands *in)
{
	/* Below the stack pointer, where no argument is. */
	bool pushes = in->operation == OPERATION_PUSH || in->operation == OPERATION_CALL;
	uint32_t changes = 0;

	for (int i = 0; i < in->cnt; i++) {
		const struct operand *op = &in->items[i];

		if (!op->writes)
			continue;
		if (op->kind == OPERAND_REGISTER)
			changes |= register_bit(arch, op->reg);
		else if (op->kind == OPERAND_MEMORY && !pushes)
			changes |= ARGUMENTS_NEED_MEMORY;
	}
	return changes;
}

uint32_t changes__before(const struct arch *arch, const uint8_t *code, size_t size, uint32_t offset)
{
	struct operands in;
	uint32_t changes = 0;

	if (!arch->operands)
		return offset ? ~0u : 0;
	for (uint32_t at = 0; at < offset; at += in.length) {
		if (at >= size || !arch->operands(code + at, size - at, &in))
			return ~0u;
		/* The kernel may change whatever its caller wants. */
		if (in.flow == OPERAND_FLOW_SYSTEM_CALL)
			return ~0u;
		changes |= changes_of(arch, &in);
	}
	return changes;
}
