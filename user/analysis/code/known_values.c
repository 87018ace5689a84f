// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/known_values.h"

#include <string.h>

#define RSP  OPERAND_STACK_POINTER
#define RBP  OPERAND_FRAME_POINTER
#define NONE OPERAND_NO_REGISTER

static const struct known_value unknown = {VALUE_UNKNOWN, 0};
static const struct known_value in_frame = {VALUE_IN_FRAME, 0};

static struct known_value number(int64_t n)
{
	return (struct known_value){VALUE_NUMBER, n};
}

void known_values__begin(struct known_values *v)
{
	*v = (struct known_values){0};
	v->registers[RSP] = in_frame;
}

static int register_of(const struct operand *op)
{
	return op->kind == OPERAND_REGISTER ? op->reg : NONE;
}

/* The number that the frame has there, or where one is put; NULL: none is known. */
static struct known_slot *slot_of(struct known_values *v, const struct operand *op)
{
	for (int i = 0; i < KNOWN_SLOTS; i++) {
		struct known_slot *slot = &v->slots[i];

		if (slot->used && !op->indexed && slot->base == op->base &&
		    slot->offset == op->value)
			return slot;
	}
	return NULL;
}

/* The address of the operand in memory. Without a base register it counts from the instruction's
 * end, or from 0. */
static struct known_value address_of(const struct known_values *v, const struct operand *op,
				     uint64_t end)
{
	struct known_value base = unknown;

	if (op->base == NONE && !op->indexed)
		return number(op->value + (op->part ? (int64_t)end : 0));
	if (op->base != NONE)
		base = v->registers[op->base];
	if (base.kind == VALUE_IN_FRAME)
		return base;
	if (op->indexed && op->index != NONE && v->registers[op->index].kind == VALUE_IN_FRAME)
		return in_frame;
	if (base.kind != VALUE_NUMBER || op->indexed)
		return unknown;
	return number(base.number + op->value);
}

static struct known_value value_of(struct known_values *v, const struct operand *op)
{
	const struct known_slot *slot;

	switch (op->kind) {
	case OPERAND_CONSTANT:
		return number(op->value);
	case OPERAND_REGISTER:
		return op->reg == NONE ? unknown : v->registers[op->reg];
	case OPERAND_MEMORY:
		slot = slot_of(v, op);
		return slot ? number(slot->number) : unknown;
	default:
		return unknown;
	}
}

/* A sum or a difference. */
static struct known_value sum_of(struct known_values *v, const struct operands *in)
{
	struct known_value a = value_of(v, &in->items[0]), b = value_of(v, &in->items[1]);

	if (in->operation == OPERATION_SUB && register_of(&in->items[0]) != NONE &&
	    register_of(&in->items[0]) == register_of(&in->items[1]))
		return number(0);
	if (a.kind == VALUE_IN_FRAME ||
	    (b.kind == VALUE_IN_FRAME && in->operation == OPERATION_ADD))
		return in_frame;
	if (a.kind != VALUE_NUMBER || b.kind != VALUE_NUMBER)
		return unknown;
	return number(in->operation == OPERATION_SUB ? a.number - b.number : a.number + b.number);
}

/* The value that the instruction puts into its first operand. */
static struct known_value result_of(struct known_values *v, const struct operands *in, uint64_t end)
{
	switch (in->operation) {
	case OPERATION_MOV:
		return value_of(v, &in->items[1]);
	case OPERATION_LEA:
		return address_of(v, &in->items[1], end);
	case OPERATION_ADD:
	case OPERATION_SUB:
		return sum_of(v, in);
	case OPERATION_XOR:
		return register_of(&in->items[0]) != NONE &&
				       register_of(&in->items[0]) == register_of(&in->items[1])
			       ? number(0)
			       : unknown;
	default:
		return unknown;
	}
}

/* Notes a number that is put into the frame, and forgets what was there. */
static void store(struct known_values *v, const struct operand *to, struct known_value value)
{
	struct known_slot *slot = slot_of(v, to);

	if (slot)
		slot->used = false;
	if (value.kind != VALUE_NUMBER || to->indexed || to->base == NONE ||
	    v->registers[to->base].kind != VALUE_IN_FRAME)
		return;
	if (!slot)
		slot = &v->slots[v->slots_next++ % KNOWN_SLOTS];
	*slot = (struct known_slot){true, to->base, to->value, value.number};
}

static void compare(struct known_values *v, const struct operands *in)
{
	const struct operand *a = &in->items[0], *b = &in->items[1];
	struct known_value x = value_of(v, a), y = value_of(v, b);
	bool same = in->operation == OPERATION_TEST && register_of(a) != NONE &&
		    register_of(a) == register_of(b);

	v->compared = x.kind == VALUE_NUMBER && y.kind == VALUE_NUMBER &&
		      (in->operation == OPERATION_CMP || same);
	v->equal = in->operation == OPERATION_CMP ? x.number == y.number : !x.number;
}

/* Whether the instruction leaves the result of a comparison as it is. */
static bool keeps_flags(const struct operands *in)
{
	switch (in->operation) {
	case OPERATION_MOV:
	case OPERATION_LEA:
	case OPERATION_PUSH:
	case OPERATION_POP:
	case OPERATION_NOP:
	case OPERATION_LANDING:
	case OPERATION_CMOV:
		return true;
	default:
		return in->flow == OPERAND_FLOW_JUMP || in->flow == OPERAND_FLOW_BRANCH;
	}
}

void known_values__pass(struct known_values *v, const struct operands *in, uint64_t vaddr)
{
	struct known_value result;

	if (in->operation == OPERATION_CMP || in->operation == OPERATION_TEST) {
		compare(v, in);
		return;
	}
	if (!keeps_flags(in))
		v->compared = false;
	result = in->cnt ? result_of(v, in, vaddr + in->length) : unknown;
	for (int i = 0; i < in->cnt; i++) {
		const struct operand *op = &in->items[i];

		if (!op->writes)
			continue;
		if (op->kind == OPERAND_MEMORY && !op->hidden)
			store(v, op, i ? unknown : result);
		else if (register_of(op) != NONE && op->reg != RSP)
			v->registers[op->reg] = i ? unknown : result;
	}
}

void known_values__pass_call(struct known_values *v, uint32_t preserved)
{
	for (int i = 0; i < OPERAND_REGISTERS; i++) {
		if (!(preserved & 1u << i))
			v->registers[i] = unknown;
	}
	v->compared = false;
}
