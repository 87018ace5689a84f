// SPDX-License-Identifier: GPL-2.0-or-later
/* Zydis knows all operands, implied ones included; what nobody asks for is left out. */
#include "arch/operands.h"

#include <Zydis/Zydis.h>
#include <pthread.h>

#include "arch/x86_64/x86_64.h"

static ZydisDecoder decoder;

static void init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static enum operation operation_of(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return OPERATION_MOV;
	case ZYDIS_MNEMONIC_LEA:
		return OPERATION_LEA;
	case ZYDIS_MNEMONIC_ADD:
		return OPERATION_ADD;
	case ZYDIS_MNEMONIC_SUB:
		return OPERATION_SUB;
	case ZYDIS_MNEMONIC_SBB:
		return OPERATION_SBB;
	case ZYDIS_MNEMONIC_AND:
		return OPERATION_AND;
	case ZYDIS_MNEMONIC_OR:
		return OPERATION_OR;
	case ZYDIS_MNEMONIC_XOR:
		return OPERATION_XOR;
	case ZYDIS_MNEMONIC_CMP:
		return OPERATION_CMP;
	case ZYDIS_MNEMONIC_TEST:
		return OPERATION_TEST;
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD: /* also one of vectors */
	case ZYDIS_MNEMONIC_MOVSQ:
		return in->meta.category == ZYDIS_CATEGORY_STRINGOP ? OPERATION_COPY
								    : OPERATION_OTHER;
	case ZYDIS_MNEMONIC_XCHG:
		return OPERATION_XCHG;
	case ZYDIS_MNEMONIC_PUSH:
		return OPERATION_PUSH;
	case ZYDIS_MNEMONIC_PUSHFQ:
		return OPERATION_PUSH_FLAGS;
	case ZYDIS_MNEMONIC_POP:
		return OPERATION_POP;
	case ZYDIS_MNEMONIC_POPFQ:
		return OPERATION_POP_FLAGS;
	case ZYDIS_MNEMONIC_LEAVE:
		return OPERATION_LEAVE;
	case ZYDIS_MNEMONIC_CALL:
		return OPERATION_CALL;
	case ZYDIS_MNEMONIC_RET:
		return OPERATION_RETURN;
	case ZYDIS_MNEMONIC_NOP:
		return OPERATION_NOP;
	case ZYDIS_MNEMONIC_ENDBR64:
		return OPERATION_LANDING;
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return OPERATION_TRAP;
	case ZYDIS_MNEMONIC_INT3:
		return OPERATION_BREAKPOINT;
	default:
		return in->meta.category == ZYDIS_CATEGORY_CMOV ? OPERATION_CMOV : OPERATION_OTHER;
	}
}

static enum operand_flow flow_of(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_RET:
		return in->mnemonic == ZYDIS_MNEMONIC_RET && !in->operand_count_visible &&
				       in->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR
			       ? OPERAND_FLOW_RETURN
			       : OPERAND_FLOW_RETURN_OTHER;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return OPERAND_FLOW_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return OPERAND_FLOW_BRANCH;
	case ZYDIS_CATEGORY_CALL:
		return OPERAND_FLOW_CALL;
	case ZYDIS_CATEGORY_SYSCALL:
		return in->mnemonic == ZYDIS_MNEMONIC_SYSCALL ? OPERAND_FLOW_SYSTEM_CALL
							      : OPERAND_FLOW_SYSTEM_CALL_OTHER;
	case ZYDIS_CATEGORY_INTERRUPT:
		return in->mnemonic == ZYDIS_MNEMONIC_INT ? OPERAND_FLOW_INTERRUPT
							  : OPERAND_FLOW_STOP;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT
			       ? OPERAND_FLOW_STOP
			       : OPERAND_FLOW_NEXT;
	}
}

/* The number of a general register, or of the one that `reg` is a part of; *part: it is one. */
static uint8_t number_of(ZydisRegister reg, bool *part)
{
	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15) {
		reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
		*part = true;
	}
	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
		return OPERAND_NO_REGISTER;
	return reg - ZYDIS_REGISTER_RAX;
}

/* Returns whether it is one that anybody asks for. */
static bool read_operand(const ZydisDecodedOperand *op, struct operand *out)
{
	*out = (struct operand){
		.reads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
		.writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
		.hidden = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN,
		.reg = OPERAND_NO_REGISTER,
		.base = OPERAND_NO_REGISTER,
		.index = OPERAND_NO_REGISTER,
		.size = op->size / 8,
	};
	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		out->kind = OPERAND_REGISTER;
		out->reg = number_of(op->reg.value, &out->part);
		return !out->hidden || out->reg != OPERAND_NO_REGISTER;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		out->kind = OPERAND_MEMORY;
		if (op->mem.base != ZYDIS_REGISTER_NONE)
			out->base = number_of(op->mem.base, &out->part);
		out->indexed = op->mem.index != ZYDIS_REGISTER_NONE;
		if (out->indexed)
			out->index = number_of(op->mem.index, &out->part);
		out->address_only = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
		out->value = op->mem.disp.value;
		return true;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		out->kind = OPERAND_CONSTANT;
		out->value = op->imm.value.s;
		return true;
	default:
		return true;
	}
}

bool x86_64_operands__decode(const uint8_t *bytes, size_t len, struct operands *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	pthread_once(&once, init);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &in, ops)))
		return false;
	out->length = in.length;
	out->operation = operation_of(&in);
	out->flow = flow_of(&in);
	out->width = in.operand_width;
	out->locks = in.attributes & ZYDIS_ATTRIB_HAS_LOCK;
	out->relative = in.raw.imm[0].is_relative;
	out->target = in.raw.imm[0].value.s;
	out->if_equal = in.mnemonic == ZYDIS_MNEMONIC_JZ;
	out->if_unequal = in.mnemonic == ZYDIS_MNEMONIC_JNZ;
	out->cnt = 0;
	for (int i = 0; i < in.operand_count && out->cnt < OPERANDS_MAX; i++)
		out->cnt += read_operand(&ops[i], &out->items[out->cnt]);
	return true;
}
