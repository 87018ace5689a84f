// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/place.h"

#include <string.h>

#include "arch/operands.h"

#define WORD 8
#define RSP  OPERAND_STACK_POINTER
#define RBP  OPERAND_FRAME_POINTER
#define NONE OPERAND_NO_REGISTER
#define RCX  1 /* counts how often an instruction repeats itself */

static const char looks[] = "looks at its return address";
static const char pops[] = "takes its return address off the stack";
static const char walks[] = "looks at its caller's frame";
static const char lost[] = "its stack pointer cannot be followed";

struct place place__at_entry(void)
{
	struct place p = {.times = PLACE_UNKNOWN, .limit = PLACE_UNKNOWN, .callers_frame = true};

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
	if (p->times != other->times)
		p->times = PLACE_UNKNOWN;
	/* A value that is not the caller's on one of the ways is not the caller's. */
	p->callers_frame &= other->callers_frame;
	return memcmp(&was, p, sizeof(was)) != 0;
}

bool place__is_way_out(const struct place *p)
{
	return !p->depth && !p->moved;
}

static int register_of(const struct operand *op)
{
	return op->kind == OPERAND_REGISTER ? op->reg : NONE;
}

static bool is_constant(const struct operand *op)
{
	return op->kind == OPERAND_CONSTANT && op->value > INT32_MIN && op->value < INT32_MAX;
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
static bool is_barrier(const struct operands *in)
{
	return in->operation == OPERATION_OR && in->locks && is_constant(&in->items[1]) &&
	       !in->items[1].value;
}

/* Whether [from, from + size), from the return address up, has a byte of the word that lies
 * `below` it. */
static bool overlaps(int64_t from, int64_t size, int32_t below)
{
	return from < WORD - (int64_t)below && from + size > -(int64_t)below;
}

/* The operand's address, in bytes below the return address; PLACE_UNKNOWN if something that varies
 * is added to it. */
static int32_t address_of(const struct place *p, const struct operand *op)
{
	int32_t base = pointer_of(p, op->base);

	if (base == PLACE_UNKNOWN || op->indexed)
		return PLACE_UNKNOWN;
	return distance(base - op->value);
}

/* Whether the instruction puts rbp where the caller's can be found again, or takes it from there.
 */
static bool keeps_frame(const struct operands *in, const struct place *p)
{
	switch (in->operation) {
	case OPERATION_PUSH:
	case OPERATION_POP:
	case OPERATION_LEAVE:
		return true;
	case OPERATION_MOV:
		if (in->items[0].kind == OPERAND_MEMORY && register_of(&in->items[1]) == RBP)
			return address_of(p, &in->items[0]) > 0;
		return register_of(&in->items[0]) == RBP && in->items[1].kind == OPERAND_MEMORY &&
		       address_of(p, &in->items[1]) == p->saved;
	default:
		return false;
	}
}

/* Whether rbp is set to a constant by an instruction that reads it, too. */
static bool sets_frame(const struct operands *in)
{
	switch (in->operation) {
	case OPERATION_XOR:
	case OPERATION_SBB:
	case OPERATION_SUB:
		return register_of(&in->items[0]) == RBP && register_of(&in->items[1]) == RBP;
	case OPERATION_OR:
		return register_of(&in->items[0]) == RBP && is_constant(&in->items[1]) &&
		       in->items[1].value == -1;
	case OPERATION_AND:
		return register_of(&in->items[0]) == RBP && is_constant(&in->items[1]) &&
		       !in->items[1].value;
	default:
		return false;
	}
}

/* How much memory the operand is, in bytes. Copies that repeat themselves for a number of times
 * that is not known are taken to stay within their array, as indexes are. */
static int64_t size_of(const struct place *p, const struct operands *in, const struct operand *op)
{
	if (in->operation != OPERATION_COPY || p->times == PLACE_UNKNOWN)
		return op->address_only ? 1 : op->size;
	for (int i = 0; i < in->cnt; i++) {
		if (register_of(&in->items[i]) == RCX)
			return (int64_t)op->size * p->times;
	}
	return op->size;
}

/* The reason against a return probe in the memory that the instruction reads, writes or points at;
 * NULL: none. */
static const char *check_memory(const struct place *p, const struct operands *in,
				const struct operand *op, bool *reaches_up)
{
	int base = op->base;
	int64_t size = size_of(p, in, op), from;
	int32_t below = base == RSP ? p->depth : pointer_of(p, base);

	/* Room on the stack, in a way that leaves the flags alone. */
	if (in->operation == OPERATION_LEA && register_of(&in->items[0]) == RSP)
		return NULL;
	if (below == PLACE_UNKNOWN || is_barrier(in))
		return NULL;
	from = op->value - below;
	if (overlaps(from, size, 0) || (base == RSP && p->moved && from + size > 0))
		return looks;
	*reaches_up |= from >= WORD;
	if (p->saved && overlaps(from, size, p->saved) && !keeps_frame(in, p))
		return walks;
	return NULL;
}

/* The reason against a return probe in the operand; NULL: none. */
static const char *check_operand(const struct place *p, const struct operands *in,
				 const struct operand *op, bool *reaches_up)
{
	int reg = register_of(op);
	bool reads = op->reads;

	if (op->kind == OPERAND_MEMORY) {
		if (p->callers_frame && (op->base == RBP || op->index == RBP))
			return walks;
		/* Pushes, pops: follow() looks at those. */
		return op->hidden && in->operation != OPERATION_COPY
			       ? NULL
			       : check_memory(p, in, op, reaches_up);
	}
	if (reg == RBP && reads && p->callers_frame && !keeps_frame(in, p) && !sets_frame(in))
		return walks;
	if (op->hidden)
		return NULL;
	if (reg == RSP && reads && !op->writes && !p->depth)
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
static bool add(struct place *p, const struct operand *by, int down)
{
	if (is_constant(by))
		return move(p, by->value * down);
	/* A variable's room; a copy of the stack pointer brings it back. */
	p->moved = true;
	p->floor = p->depth;
	return down > 0;
}

/* Follows an instruction whose target is the stack pointer. */
static bool set_stack_pointer(const struct operands *in, struct place *p)
{
	switch (in->operation) {
	case OPERATION_ADD:
		return add(p, &in->items[1], -1);
	case OPERATION_SUB:
		return add(p, &in->items[1], 1);
	case OPERATION_AND:
		p->moved = true;
		p->floor = p->depth;
		return is_constant(&in->items[1]) && in->items[1].value < 0;
	case OPERATION_MOV:
		return restore(p, pointer_of(p, register_of(&in->items[1])));
	case OPERATION_LEA:
		if (in->items[1].indexed)
			return false;
		if (in->items[1].base == RSP && !in->items[1].part)
			return move(p, -in->items[1].value);
		return restore(p, address_of(p, &in->items[1]));
	default:
		return false;
	}
}

/* The place that a loaded register points to; PLACE_UNKNOWN: it cannot be told. */
static int32_t loaded(const struct operands *in, const struct place *p, int reg)
{
	int32_t at = pointer_of(p, reg);

	if (in->width != 64 || register_of(&in->items[0]) != reg)
		return PLACE_UNKNOWN;
	switch (in->operation) {
	case OPERATION_MOV:
		return pointer_of(p, register_of(&in->items[1]));
	case OPERATION_LEA:
		return address_of(p, &in->items[1]);
	case OPERATION_ADD:
	case OPERATION_SUB:
		if (at == PLACE_UNKNOWN || !is_constant(&in->items[1]))
			return PLACE_UNKNOWN;
		return distance(in->operation == OPERATION_SUB ? at + in->items[1].value
							       : at - in->items[1].value);
	default:
		return PLACE_UNKNOWN;
	}
}

/* The number that the instruction loads; PLACE_UNKNOWN: none. */
static int32_t number_of(const struct operands *in)
{
	return in->operation == OPERATION_MOV && is_constant(&in->items[1]) &&
			       in->items[1].value >= 0
		       ? in->items[1].value
		       : PLACE_UNKNOWN;
}

/* rbp is loaded, from where the caller's was put or from elsewhere. */
static void load_frame(struct place *p, bool is_callers)
{
	p->callers_frame = is_callers;
	if (is_callers)
		p->saved = 0;
}

/* The reason against a return probe in the addresses that the instruction puts into registers or
 * memory; NULL: none. */
static const char *set_pointers(const struct operands *in, struct place *p)
{
	struct place was = *p;

	for (int i = 0; i < in->cnt; i++) {
		int reg = register_of(&in->items[i]);
		int32_t at;

		if (reg == NONE || reg == RSP || !in->items[i].writes)
			continue;
		if (reg == RCX)
			p->times = number_of(in);
		at = p->pointers[reg] = loaded(in, &was, reg);
		if (at != PLACE_UNKNOWN && overlaps(-(int64_t)at, 1, 0))
			return looks;
		if (at != PLACE_UNKNOWN && was.saved && at == was.saved && reg != RBP)
			return walks;
		if (reg == RBP)
			load_frame(p, was.saved && keeps_frame(in, &was));
	}
	if (in->operation != OPERATION_MOV || in->items[0].kind != OPERAND_MEMORY ||
	    register_of(&in->items[1]) == NONE)
		return NULL;
	/* The address of where the caller's rbp is: a frame, from which others can be found. */
	if (p->saved && pointer_of(p, register_of(&in->items[1])) == p->saved)
		return walks;
	if (register_of(&in->items[1]) == RBP && p->callers_frame)
		p->saved = address_of(p, &in->items[0]);
	return NULL;
}

static const char *pass_push(const struct operands *in, struct place *p)
{
	int32_t at = pointer_of(p, register_of(&in->items[0]));

	if (at != PLACE_UNKNOWN && p->saved && at == p->saved)
		return walks;
	if (in->width != 64 || !move(p, WORD))
		return lost;
	if (register_of(&in->items[0]) == RBP && p->callers_frame && !p->saved && !p->moved)
		p->saved = p->depth;
	return NULL;
}

static const char *pass_pop(const struct operands *in, struct place *p)
{
	int reg = register_of(&in->items[0]);
	bool saved = p->saved && p->saved == p->depth && !p->moved;

	if (in->width != 64 || reg == RSP)
		return lost;
	if (p->depth < WORD)
		return pops;
	if (saved && reg != RBP)
		return walks;
	if (reg != NONE)
		p->pointers[reg] = PLACE_UNKNOWN;
	if (reg == RCX)
		p->times = PLACE_UNKNOWN;
	if (reg == RBP)
		load_frame(p, saved);
	return move(p, -WORD) ? NULL : lost;
}

/* leave: the stack pointer becomes the frame pointer, and what is there is popped. */
static const char *pass_leave(const struct operands *in, struct place *p)
{
	int32_t frame = p->pointers[RBP];

	if (in->width != 64 || frame == PLACE_UNKNOWN || frame < WORD)
		return lost;
	restore(p, frame - WORD);
	load_frame(p, p->saved == frame);
	p->pointers[RBP] = PLACE_UNKNOWN;
	return NULL;
}

static bool writes_stack_pointer(const struct operands *in)
{
	for (int i = 0; i < in->cnt; i++) {
		if (register_of(&in->items[i]) == RSP && in->items[i].writes)
			return true;
	}
	return false;
}

/* Stack probing compares the stack pointer with where it is to go. */
static void pass_compare(const struct operands *in, struct place *p)
{
	p->limit = PLACE_UNKNOWN;
	if (in->operation != OPERATION_CMP || in->width != 64)
		return;
	if (register_of(&in->items[0]) == RSP)
		p->limit = p->pointers[register_of(&in->items[1]) % PLACE_REGISTERS];
	else if (register_of(&in->items[1]) == RSP)
		p->limit = p->pointers[register_of(&in->items[0]) % PLACE_REGISTERS];
	if (register_of(&in->items[0]) == NONE || register_of(&in->items[1]) == NONE)
		p->limit = PLACE_UNKNOWN;
}

void place__leave_loop(struct place *p, bool equal)
{
	if (equal && p->limit != PLACE_UNKNOWN && p->limit >= p->depth)
		restore(p, p->limit);
	p->limit = PLACE_UNKNOWN;
}

void place__pass_call(struct place *p, uint32_t preserved)
{
	for (int i = 0; i < PLACE_REGISTERS; i++) {
		if (!(preserved >> i & 1))
			p->pointers[i] = PLACE_UNKNOWN;
	}
	p->times = PLACE_UNKNOWN;
}

const char *place__pass(struct place *p, const struct operands *in, bool *reaches_up)
{
	const char *doubt;

	for (int i = 0; i < in->cnt; i++) {
		doubt = check_operand(p, in, &in->items[i], reaches_up);
		if (doubt)
			return doubt;
	}
	if (in->flow != OPERAND_FLOW_BRANCH)
		pass_compare(in, p);
	switch (in->operation) {
	case OPERATION_CALL:
	case OPERATION_RETURN:
		return NULL;
	case OPERATION_PUSH:
	case OPERATION_PUSH_FLAGS:
		return pass_push(in, p);
	case OPERATION_POP:
	case OPERATION_POP_FLAGS:
		return pass_pop(in, p);
	case OPERATION_LEAVE:
		return pass_leave(in, p);
	default:
		break;
	}
	if (writes_stack_pointer(in))
		return in->width == 64 && set_stack_pointer(in, p) ? NULL : lost;
	return set_pointers(in, p);
}
