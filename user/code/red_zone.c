// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/red_zone.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

/* What has been seen of a function, from its start on. */
struct look {
	ZydisDecoder decoder;
	const uint8_t *code;
	size_t size;
	uint8_t *starts; /* by byte: whether an instruction begins there */
	bool prologue;	 /* nothing but a prologue has been seen so far */
	bool calls;
	const char *doubt; /* why memory below the stack pointer may be in use; NULL: it isn't */
};

static bool is_stack_pointer(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) ==
	       ZYDIS_REGISTER_RSP;
}

/* Instructions that set up a frame, behind which a profiling hook may be called (-pg). */
static bool is_prologue(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ENDBR64:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_PUSH:
		return true;
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_SUB:
		return ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       (is_stack_pointer(ops[0].reg.value) ||
			(ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 is_stack_pointer(ops[1].reg.value)));
	default:
		return false;
	}
}

/* Whether the instruction uses the stack pointer in a way that keeps what it does in view: pushes,
 * pops, returns, sums with constants. */
static bool is_plain_stack_use(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		return !(ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 is_stack_pointer(ops[0].reg.value));
	case ZYDIS_MNEMONIC_RET:
		return true;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		return ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       is_stack_pointer(ops[0].reg.value) &&
		       ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	default:
		return false;
	}
}

static const char *doubt_about(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	bool plain = is_plain_stack_use(in, ops);

	for (int i = 0; i < in->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && is_stack_pointer(op->reg.value) &&
		    !plain)
			return "the function hands its stack pointer on";
		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || !is_stack_pointer(op->mem.base) ||
		    op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue;
		if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			return "the function hands its stack pointer on";
		if (op->mem.disp.value < 0 || op->mem.index != ZYDIS_REGISTER_NONE)
			return "the function keeps variables below its stack pointer";
	}
	return NULL;
}

/* One instruction. Returns its length, or 0: there is none. */
static size_t look_at(struct look *l, size_t at)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(&l->decoder, l->code + at, l->size - at, &in, ops)))
		return 0;
	l->starts[at] = true;
	if (in.meta.category == ZYDIS_CATEGORY_CALL) {
		l->calls |= !l->prologue;
		l->prologue = false;
		return in.length; /* it pushes, where nothing can be kept then */
	}
	l->prologue = l->prologue && is_prologue(&in, ops);
	if (!l->doubt)
		l->doubt = doubt_about(&in, ops);
	return in.length;
}

/* Whether a branch leads to where no instruction was found to begin, or out of the function: then
 * something of it has not been seen. */
static bool branches_astray(struct look *l)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	for (size_t at = 0; at < l->size; at += in.length) {
		uint64_t to;

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&l->decoder, l->code + at, l->size - at,
							 &in, ops)))
			return true;
		if (in.meta.category != ZYDIS_CATEGORY_COND_BR &&
		    in.meta.category != ZYDIS_CATEGORY_UNCOND_BR)
			continue;
		if (ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return true;
		to = at + in.length + (uint64_t)ops[0].imm.value.s;
		if (to >= l->size || !l->starts[to])
			return true;
	}
	return false;
}

static struct red_zone_proof decide(struct look *l, bool split)
{
	bool astray = branches_astray(l);

	if (l->calls)
		return (struct red_zone_proof){true, "its function calls others, so it keeps "
						     "nothing below its stack pointer"};
	if (split)
		return (struct red_zone_proof){false, "the function lies in several pieces"};
	if (l->doubt)
		return (struct red_zone_proof){false, l->doubt};
	if (astray)
		return (struct red_zone_proof){false, "not all of the function's code is known"};
	return (struct red_zone_proof){true,
				       "its function touches nothing below its stack pointer"};
}

struct red_zone_proof red_zone__prove(const uint8_t *code, size_t size, bool split)
{
	struct look l = {.code = code, .size = size, .prologue = true};
	struct red_zone_proof proof = {false, "not all of the function's code can be decoded"};
	size_t at = 0, len = 1;

	l.starts = calloc(size + 1, 1);
	if (!l.starts)
		return (struct red_zone_proof){false, "there is no memory to look at its function"};
	ZydisDecoderInit(&l.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (; at < size && len; at += len)
		len = look_at(&l, at);
	if (len)
		proof = decide(&l, split);
	free(l.starts);
	return proof;
}
