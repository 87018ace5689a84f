// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/red_zone.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "arch/operands.h"

/* State of the look at a function, from its start on. */
struct look {
	const struct arch *arch;
	const uint8_t *code;
	size_t size;
	uint8_t *starts; /* by byte: whether an instruction begins there */
	bool prologue;	 /* nothing but a prologue has been seen so far */
	bool calls;
	const char *doubt; /* why memory below the stack pointer may be in use; NULL: it isn't */
};

static bool is_stack_pointer(const struct operand *op)
{
	return op->kind == OPERAND_REGISTER && op->reg == OPERAND_STACK_POINTER;
}

/* Instructions that set up a frame, behind which a profiling hook may be called (-pg). */
static bool is_prologue(const struct operands *in)
{
	switch (in->operation) {
	case OPERATION_LANDING:
	case OPERATION_NOP:
	case OPERATION_PUSH:
		return true;
	case OPERATION_MOV:
	case OPERATION_LEA:
	case OPERATION_SUB:
		return in->items[0].kind == OPERAND_REGISTER &&
		       (is_stack_pointer(&in->items[0]) || is_stack_pointer(&in->items[1]));
	default:
		return false;
	}
}

/* Whether the instruction uses the stack pointer in a way that keeps what it does in view: pushes,
 * pops, returns, sums with constants. */
static bool is_plain_stack_use(const struct operands *in)
{
	switch (in->operation) {
	case OPERATION_PUSH:
	case OPERATION_POP:
		return !is_stack_pointer(&in->items[0]);
	case OPERATION_RETURN:
		return true;
	case OPERATION_ADD:
	case OPERATION_SUB:
		return is_stack_pointer(&in->items[0]) && in->items[1].kind == OPERAND_CONSTANT;
	default:
		return false;
	}
}

static const char *doubt_about(const struct operands *in)
{
	bool plain = is_plain_stack_use(in);

	for (int i = 0; i < in->cnt; i++) {
		const struct operand *op = &in->items[i];

		if (is_stack_pointer(op) && !plain)
			return "the function hands its stack pointer on";
		if (op->kind != OPERAND_MEMORY || op->base != OPERAND_STACK_POINTER || op->hidden)
			continue;
		if (op->address_only)
			return "the function hands its stack pointer on";
		if (op->value < 0 || op->indexed)
			return "the function keeps variables below its stack pointer";
	}
	return NULL;
}

/* One instruction. Returns its length, or 0: there is none. */
static size_t look_at(struct look *l, size_t at)
{
	struct operands in;

	if (!l->arch->operands(l->code + at, l->size - at, &in))
		return 0;
	l->starts[at] = true;
	if (in.flow == OPERAND_FLOW_CALL) {
		l->calls |= !l->prologue;
		l->prologue = false;
		return in.length; /* it pushes, where nothing can be kept then */
	}
	l->prologue = l->prologue && is_prologue(&in);
	if (!l->doubt)
		l->doubt = doubt_about(&in);
	return in.length;
}

/* Whether a branch leads to where no instruction was found to begin, or out of the function: then
 * something of it has not been seen. */
static bool branches_astray(struct look *l)
{
	struct operands in;

	for (size_t at = 0; at < l->size; at += in.length) {
		uint64_t to;

		if (!l->arch->operands(l->code + at, l->size - at, &in))
			return true;
		if (in.flow != OPERAND_FLOW_BRANCH && in.flow != OPERAND_FLOW_JUMP)
			continue;
		if (!in.relative)
			return true;
		to = at + in.length + (uint64_t)in.target;
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

struct red_zone_proof red_zone__prove(const struct arch *arch, const uint8_t *code, size_t size,
				      bool split)
{
	struct look l = {.arch = arch, .code = code, .size = size, .prologue = true};
	struct red_zone_proof proof = {false, "not all of the function's code can be decoded"};
	size_t at = 0, len = 1;

	if (!arch->operands)
		return proof;
	l.starts = calloc(size + 1, 1);
	if (!l.starts)
		return (struct red_zone_proof){false, "there is no memory to look at its function"};
	for (; at < size && len; at += len)
		len = look_at(&l, at);
	if (len)
		proof = decide(&l, split);
	free(l.starts);
	return proof;
}
