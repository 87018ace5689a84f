// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/place.h"

#include <string.h>

#define WORD 8
#define RAX  0
#define RSP  4
#define RBP  5
#define NONE PLACE_REGISTERS

static const char looks[] = "looks at its return address";
static const char pops[] = "takes its return address off the stack";
static const char walks[] = "looks at its caller's frame";
static const char lost[] = "its stack pointer cannot be followed";

struct place place__at_entry(void)
{
	struct place p = {.limit = PLACE_UNKNOWN, .callers_frame = true};

	for (int i = 0; i < PLACE_REGISTERS; i++)
		p.pointers[i] = PLACE_UNKNOWN;
	return p;
}

bool place__agrees(const struct place *p, const struct place *other)
{
	return p->depth == other->depth && p->moved == other->moved;
}

bool place__join(struct place *p, const struct place *other)
{
	struct place was = *p;

	if (!place__agrees(p, other)) {
		p->depth = p->floor = p->depth < other->depth ? p->depth : other->depth;
		p->moved = true;
	} else if (p->floor < other->floor) {
		p->floor = other->floor;
	}
	for (int i = 0; i < PLACE_REGISTERS; i++) {
		if (p->pointers[i] != other->pointers[i])
			p->pointers[i] = PLACE_UNKNOWN;
	}
	if (p->saved != other->saved)
		p->saved = 0;
	if (p->limit != other->limit)
		p->limit = PLACE_UNKNOWN;
	/* What is read then is not the caller's on all ways, hence on none. */
	p->callers_frame &= other->callers_frame;
	return memcmp(&was, p, sizeof(was)) != 0;
}

bool place__is_way_out(const struct place *p)
{
	return !p->depth && !p->moved;
}

/* The number of a register of 64 bits, or of the one that `reg` is a part of. */
static int number_of(ZydisRegister reg)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15)
		return NONE;
	return wide - ZYDIS_REGISTER_RAX;
}

static int register_of(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op->reg.value) : NONE;
}

static bool is_constant(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.value.s > INT32_MIN &&
	       op->imm.value.s < INT32_MAX;
}

/* How far below the return address the register points; PLACE_UNKNOWN: anywhere. */
static int32_t pointer_of(const struct place *p, int reg)
{
	if (reg == NONE)
		return PLACE_UNKNOWN;
	if (reg == RSP)
		return p->moved ? PLACE_UNKNOWN : p->depth;
	return p->pointers[reg];
}

static int32_t distance(int64_t d)
{
	return d > INT32_MIN && d < INT32_MAX ? d : PLACE_UNKNOWN;
}

/* A barrier, as compilers make it: what is there stays as it is. */
static bool is_barrier(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	return in->mnemonic == ZYDIS_MNEMONIC_OR && in->attributes & ZYDIS_ATTRIB_HAS_LOCK &&
	       is_constant(&ops[1]) && !ops[1].imm.value.s;
}

/* Whether [from, from + size), from the return address up, has a byte of the word that lies
 * `below` it. */
static bool overlaps(int64_t from, int64_t size, int32_t below)
{
	return from < WORD - (int64_t)below && from + size > -(int64_t)below;
}

/* The same address as the operand's, if nothing that varies is added to it. */
static int32_t address_of(const struct place *p, const ZydisDecodedOperand *op)
{
	int32_t base = pointer_of(p, number_of(op->mem.base));

	if (base == PLACE_UNKNOWN || op->mem.index != ZYDIS_REGISTER_NONE)
		return PLACE_UNKNOWN;
	return distance(base - op->mem.disp.value);
}

/* Whether the instruction puts rbp where the caller's can be found again, or takes it from there.
 */
static bool keeps_frame(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
			const struct place *p)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_LEAVE:
		return true;
	case ZYDIS_MNEMONIC_MOV:
		if (ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY && register_of(&ops[1]) == RBP)
			return address_of(p, &ops[0]) > 0;
		return register_of(&ops[0]) == RBP && ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		       address_of(p, &ops[1]) == p->saved;
	default:
		return false;
	}
}

/* Whether rbp is set to a constant by an instruction that reads it, too. */
static bool sets_frame(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_SUB:
		return register_of(&ops[0]) == RBP && register_of(&ops[1]) == RBP;
	case ZYDIS_MNEMONIC_OR:
		return register_of(&ops[0]) == RBP && is_constant(&ops[1]) &&
		       ops[1].imm.value.s == -1;
	case ZYDIS_MNEMONIC_AND:
		return register_of(&ops[0]) == RBP && is_constant(&ops[1]) && !ops[1].imm.value.s;
	default:
		return false;
	}
}

/* What speaks against the memory that the instruction reads, writes or points at. */
static const char *check_memory(const struct place *p, const ZydisDecodedInstruction *in,
				const ZydisDecodedOperand *ops, const ZydisDecodedOperand *op,
				bool *reaches_up)
{
	bool agen = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
	int base = number_of(op->mem.base);
	int64_t size = agen ? 1 : op->size / 8, from;
	int32_t below = base == RSP ? p->depth : pointer_of(p, base);

	/* Room on the stack, in a way that leaves the flags alone. */
	if (in->mnemonic == ZYDIS_MNEMONIC_LEA && register_of(&ops[0]) == RSP)
		return NULL;
	if (below == PLACE_UNKNOWN || is_barrier(in, ops))
		return NULL;
	from = op->mem.disp.value - below;
	if (overlaps(from, size, 0) || (base == RSP && p->moved && from + size > 0))
		return looks;
	*reaches_up |= from >= WORD;
	if (p->saved && overlaps(from, size, p->saved) && !keeps_frame(in, ops, p))
		return walks;
	return NULL;
}

/* What speaks against the operand. */
static const char *check_operand(const struct place *p, const ZydisDecodedInstruction *in,
				 const ZydisDecodedOperand *ops, const ZydisDecodedOperand *op,
				 bool *reaches_up)
{
	int reg = register_of(op);
	bool reads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if (p->callers_frame &&
		    (number_of(op->mem.base) == RBP || number_of(op->mem.index) == RBP))
			return walks;
		/* Pushes, pops: follow() looks at those. */
		return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN
			       ? NULL
			       : check_memory(p, in, ops, op, reaches_up);
	}
	if (reg == RBP && reads && p->callers_frame && !keeps_frame(in, ops, p) &&
	    !sets_frame(in, ops))
		return walks;
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return NULL;
	if (reg == RSP && reads && !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && !p->depth)
		return looks;
	return NULL;
}

static bool move(struct place *p, int64_t down)
{
	int64_t depth = p->depth + down;

	if (depth < 0 || depth > INT32_MAX || (p->moved && depth < p->floor))
		return false;
	p->depth = depth;
	return true;
}

/* The stack pointer becomes what is `below` the return address. */
static bool restore(struct place *p, int64_t below)
{
	if (below < 0 || below > INT32_MAX)
		return false;
	p->depth = below;
	p->floor = 0;
	p->moved = false;
	return true;
}

/* Sums: `down` is the sign. */
static bool add(struct place *p, const ZydisDecodedOperand *by, int down)
{
	if (is_constant(by))
		return move(p, by->imm.value.s * down);
	/* A variable's room; a copy of the stack pointer brings it back. */
	p->moved = true;
	p->floor = p->depth;
	return down > 0;
}

/* What an instruction that names the stack pointer as its target does to it. */
static bool set_stack_pointer(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
			      struct place *p)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		return add(p, &ops[1], -1);
	case ZYDIS_MNEMONIC_SUB:
		return add(p, &ops[1], 1);
	case ZYDIS_MNEMONIC_AND:
		p->moved = true;
		p->floor = p->depth;
		return is_constant(&ops[1]) && ops[1].imm.value.s < 0;
	case ZYDIS_MNEMONIC_MOV:
		return restore(p, pointer_of(p, register_of(&ops[1])));
	case ZYDIS_MNEMONIC_LEA:
		if (ops[1].mem.index != ZYDIS_REGISTER_NONE)
			return false;
		if (ops[1].mem.base == ZYDIS_REGISTER_RSP)
			return move(p, -ops[1].mem.disp.value);
		return restore(p, address_of(p, &ops[1]));
	default:
		return false;
	}
}

/* Where a register points that the instruction loads, if that can be told. */
static int32_t loaded(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
		      const struct place *p, int reg)
{
	int32_t at = pointer_of(p, reg);

	if (in->operand_width != 64 || register_of(&ops[0]) != reg)
		return PLACE_UNKNOWN;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return pointer_of(p, register_of(&ops[1]));
	case ZYDIS_MNEMONIC_LEA:
		return address_of(p, &ops[1]);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (at == PLACE_UNKNOWN || !is_constant(&ops[1]))
			return PLACE_UNKNOWN;
		return distance(in->mnemonic == ZYDIS_MNEMONIC_SUB ? at + ops[1].imm.value.s
								   : at - ops[1].imm.value.s);
	default:
		return PLACE_UNKNOWN;
	}
}

/* rbp is loaded, from where the caller's was put or from elsewhere. */
static void load_frame(struct place *p, bool is_callers)
{
	p->callers_frame = is_callers;
	if (is_callers)
		p->saved = 0;
}

/* What speaks against the addresses that the instruction puts into registers or memory. */
static const char *set_pointers(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
				struct place *p)
{
	struct place was = *p;

	for (int i = 0; i < in->operand_count; i++) {
		int reg = register_of(&ops[i]);
		int32_t at;

		if (reg == NONE || reg == RSP ||
		    !(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		at = p->pointers[reg] = loaded(in, ops, &was, reg);
		if (at != PLACE_UNKNOWN && overlaps(-(int64_t)at, 1, 0))
			return looks;
		if (at != PLACE_UNKNOWN && was.saved && at == was.saved && reg != RBP)
			return walks;
		if (reg == RBP)
			load_frame(p, was.saved && keeps_frame(in, ops, &was));
	}
	if (in->mnemonic != ZYDIS_MNEMONIC_MOV || ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    register_of(&ops[1]) == NONE)
		return NULL;
	/* The address of where the caller's rbp is: a frame, from which others can be found. */
	if (p->saved && pointer_of(p, register_of(&ops[1])) == p->saved)
		return walks;
	if (register_of(&ops[1]) == RBP && p->callers_frame)
		p->saved = address_of(p, &ops[0]);
	return NULL;
}

static const char *pass_push(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
			     struct place *p)
{
	int32_t at = pointer_of(p, register_of(&ops[0]));

	if (at != PLACE_UNKNOWN && p->saved && at == p->saved)
		return walks;
	if (in->operand_width != 64 || !move(p, WORD))
		return lost;
	if (register_of(&ops[0]) == RBP && p->callers_frame && !p->saved && !p->moved)
		p->saved = p->depth;
	return NULL;
}

static const char *pass_pop(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
			    struct place *p)
{
	int reg = register_of(&ops[0]);
	bool saved = p->saved && p->saved == p->depth && !p->moved;

	if (in->operand_width != 64 || reg == RSP)
		return lost;
	if (p->depth < WORD)
		return pops;
	if (saved && reg != RBP)
		return walks;
	if (reg != NONE)
		p->pointers[reg] = PLACE_UNKNOWN;
	if (reg == RBP)
		load_frame(p, saved);
	return move(p, -WORD) ? NULL : lost;
}

/* leave: the stack pointer becomes the frame pointer, and what is there is popped. */
static const char *pass_leave(const ZydisDecodedInstruction *in, struct place *p)
{
	int32_t frame = p->pointers[RBP];

	if (in->operand_width != 64 || frame == PLACE_UNKNOWN || frame < WORD)
		return lost;
	restore(p, frame - WORD);
	load_frame(p, p->saved == frame);
	p->pointers[RBP] = PLACE_UNKNOWN;
	return NULL;
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

/* Stack probing compares the stack pointer with where it is to go. */
static void pass_compare(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
			 struct place *p)
{
	p->limit = PLACE_UNKNOWN;
	if (in->mnemonic != ZYDIS_MNEMONIC_CMP || in->operand_width != 64)
		return;
	if (register_of(&ops[0]) == RSP)
		p->limit = p->pointers[register_of(&ops[1]) % PLACE_REGISTERS];
	else if (register_of(&ops[1]) == RSP)
		p->limit = p->pointers[register_of(&ops[0]) % PLACE_REGISTERS];
	if (register_of(&ops[0]) == NONE || register_of(&ops[1]) == NONE)
		p->limit = PLACE_UNKNOWN;
}

void place__leave_loop(struct place *p, bool equal)
{
	if (equal && p->limit != PLACE_UNKNOWN && p->limit >= p->depth)
		restore(p, p->limit);
	p->limit = PLACE_UNKNOWN;
}

void place__pass_call(struct place *p)
{
	for (int i = 0; i < PLACE_REGISTERS; i++) {
		bool kept = i == 3 || i == RBP || i >= 12;

		if (!kept)
			p->pointers[i] = PLACE_UNKNOWN;
	}
}

const char *place__pass(struct place *p, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops, bool *reaches_up)
{
	const char *doubt;

	for (int i = 0; i < in->operand_count; i++) {
		doubt = check_operand(p, in, ops, &ops[i], reaches_up);
		if (doubt)
			return doubt;
	}
	if (in->meta.category != ZYDIS_CATEGORY_COND_BR)
		pass_compare(in, ops, p);
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return NULL;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return pass_push(in, ops, p);
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		return pass_pop(in, ops, p);
	case ZYDIS_MNEMONIC_LEAVE:
		return pass_leave(in, p);
	default:
		break;
	}
	if (writes_stack_pointer(in, ops))
		return in->operand_width == 64 && set_stack_pointer(in, ops, p) ? NULL : lost;
	return set_pointers(in, ops, p);
}
