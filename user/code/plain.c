// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An abstract interpretation of two registers: at each instruction the distance of the stack
 * pointer, and of the frame pointer if it is one, from the return address. Calls come back with
 * both unchanged, as the ABI has it; where what follows a call is reached by other ways with
 * another distance, the call never comes back.
 */
#include "code/plain.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (1u << 17) /* of a function that is worth the memory */
#define WORD	 8
#define NO_FRAME (-1) /* rbp is no frame pointer */

/* Before an instruction. Distances are bytes below the return address. */
struct place {
	int32_t depth; /* of the stack pointer */
	int32_t frame; /* of the frame pointer, or NO_FRAME */
	bool known;    /* control comes here */
	bool moved;    /* the stack pointer is lower than `depth`, nobody knows how much */
};

/* One that control comes to. */
struct step {
	size_t at;
	struct place place;
};

struct steps {
	struct step *items;
	size_t cnt;
};

struct look {
	ZydisDecoder decoder;
	const struct code_piece *pieces;
	size_t pieces_cnt, size;
	const struct code_flow *flow;
	struct code_edge *edges; /* ordered by where they begin */
	struct place *places;	 /* by byte of the pieces, one behind the other */
	struct steps sure;	 /* to be taken */
	struct steps calls;	 /* ... if nothing else leads there: behind calls */
};

static bool is(ZydisRegister reg, ZydisRegister wide)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == wide;
}

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister wide)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && is(op->reg.value, wide);
}

static bool is_constant(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.value.s > INT32_MIN &&
	       op->imm.value.s < INT32_MAX;
}

static bool find(const struct look *l, uint64_t vaddr, size_t *at)
{
	size_t before = 0;

	for (size_t i = 0; i < l->pieces_cnt; i++) {
		if (vaddr - l->pieces[i].vaddr < l->pieces[i].size) {
			*at = before + (vaddr - l->pieces[i].vaddr);
			return true;
		}
		before += l->pieces[i].size;
	}
	return false;
}

/* The piece that byte `at` belongs to; `at` becomes its offset there. */
static const struct code_piece *piece_at(const struct look *l, size_t *at)
{
	const struct code_piece *piece = l->pieces;

	while (*at >= piece->size)
		*at -= piece++->size;
	return piece;
}

/* Whether [disp, disp + size) from the stack pointer (or frame pointer) at `depth` keeps clear of
 * the return address. */
static bool is_clear(int64_t disp, int64_t size, int32_t depth, bool moved)
{
	int64_t from = disp - depth;

	return from + size <= 0 || (from >= WORD && !moved);
}

/* Whether the memory that the instruction reads, writes or points at keeps clear of it. */
static bool operand_is_clear(const ZydisDecodedOperand *op, const struct place *p)
{
	bool agen = op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
	int64_t size = agen ? 1 : op->size / 8;

	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return true; /* pushes, pops: follow() looks at those */
	if (is_register(op, ZYDIS_REGISTER_RSP) && !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return p->depth > 0;
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return true;
	if (is(op->mem.base, ZYDIS_REGISTER_RSP))
		return is_clear(op->mem.disp.value, size, p->depth, p->moved);
	if (is(op->mem.base, ZYDIS_REGISTER_RBP) && p->frame != NO_FRAME)
		return is_clear(op->mem.disp.value, size, p->frame, false);
	return true;
}

static bool move(struct place *p, int64_t down)
{
	int64_t depth = p->depth + down;

	if (depth < 0 || depth > INT32_MAX || (p->moved && down < 0))
		return false;
	p->depth = depth;
	return true;
}

/* The stack pointer becomes the frame pointer plus `up`. */
static bool restore(struct place *p, int64_t up)
{
	if (p->frame == NO_FRAME || up > p->frame || p->frame - up > INT32_MAX)
		return false;
	p->depth = p->frame - up;
	p->moved = false;
	return true;
}

/* Sums: `down` is the sign. */
static bool add(struct place *p, const ZydisDecodedOperand *by, int down)
{
	if (is_constant(by))
		return move(p, by->imm.value.s * down);
	/* A variable's room; the frame pointer brings it back. */
	p->moved = true;
	return down > 0 && by->type == ZYDIS_OPERAND_TYPE_REGISTER && p->frame != NO_FRAME;
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
		return is_constant(&ops[1]) && ops[1].imm.value.s < 0 && p->frame != NO_FRAME;
	case ZYDIS_MNEMONIC_MOV:
		return is_register(&ops[1], ZYDIS_REGISTER_RBP) && restore(p, 0);
	case ZYDIS_MNEMONIC_LEA:
		if (ops[1].mem.index != ZYDIS_REGISTER_NONE)
			return false;
		if (ops[1].mem.base == ZYDIS_REGISTER_RSP)
			return move(p, -ops[1].mem.disp.value);
		return ops[1].mem.base == ZYDIS_REGISTER_RBP && restore(p, ops[1].mem.disp.value);
	default:
		return false;
	}
}

static bool writes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
		   ZydisRegister wide)
{
	for (int i = 0; i < in->operand_count; i++) {
		if (is_register(&ops[i], wide) &&
		    (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	}
	return false;
}

/* What the instruction does to both registers. Returns false if that cannot be said. */
static bool follow_registers(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
			     struct place *p)
{
	bool wide = in->operand_width == 64;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return true;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return wide && move(p, WORD);
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		if (is_register(&ops[0], ZYDIS_REGISTER_RBP))
			p->frame = NO_FRAME;
		return wide && !is_register(&ops[0], ZYDIS_REGISTER_RSP) && p->depth >= WORD &&
		       move(p, -WORD);
	case ZYDIS_MNEMONIC_LEAVE:
		if (!wide || !restore(p, WORD))
			return false;
		p->frame = NO_FRAME;
		return true;
	default:
		break;
	}
	if (writes(in, ops, ZYDIS_REGISTER_RBP)) {
		bool framed = in->mnemonic == ZYDIS_MNEMONIC_MOV && wide &&
			      is_register(&ops[1], ZYDIS_REGISTER_RSP) && !p->moved;

		p->frame = framed ? p->depth : NO_FRAME;
	}
	return !writes(in, ops, ZYDIS_REGISTER_RSP) || (wide && set_stack_pointer(in, ops, p));
}

/* Control comes to `at`. Returns false if that contradicts how else it comes there. */
static bool arrive(struct look *l, size_t at, struct place place)
{
	struct place *there = &l->places[at];

	if (!l->flow->reached[at] || l->flow->reached[at] == CODE_INSIDE)
		return false;
	if (there->known) {
		if (there->depth != place.depth || there->moved != place.moved)
			return false;
		if (there->frame == place.frame || there->frame == NO_FRAME)
			return true;
		place.frame = NO_FRAME;
	}
	*there = place;
	there->known = true;
	/* An instruction's place changes once or twice. */
	l->sure.items[l->sure.cnt++] = (struct step){at, *there};
	return true;
}

static bool arrive_at(struct look *l, uint64_t vaddr, const struct place *place)
{
	size_t at;

	return find(l, vaddr, &at) && arrive(l, at, *place);
}

static size_t first_edge(const struct look *l, uint64_t from)
{
	size_t lo = 0, hi = l->flow->edges_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->edges[mid].from < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_way_out(const struct place *p)
{
	return !p->depth && !p->moved;
}

/* A jump or branch: to where it leads inside, or out. */
static bool follow_jump(struct look *l, uint64_t vaddr, const struct place *p)
{
	size_t i = first_edge(l, vaddr);

	if (i >= l->flow->edges_cnt || l->edges[i].from != vaddr)
		return is_way_out(p);
	for (; i < l->flow->edges_cnt && l->edges[i].from == vaddr; i++) {
		if (!arrive_at(l, l->edges[i].to, p))
			return false;
	}
	return true;
}

/* Where control goes from there. */
static bool follow_flow(struct look *l, const ZydisDecodedInstruction *in, size_t at,
			const struct place *p)
{
	size_t offset = at;
	const struct code_piece *piece = piece_at(l, &offset);
	uint64_t vaddr = piece->vaddr + offset, next = vaddr + in->length;
	size_t next_at;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_RET:
		return in->mnemonic == ZYDIS_MNEMONIC_RET && !in->operand_count_visible &&
		       in->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR && is_way_out(p);
	case ZYDIS_CATEGORY_UNCOND_BR:
		return follow_jump(l, vaddr, p);
	case ZYDIS_CATEGORY_COND_BR:
		return follow_jump(l, vaddr, p) && arrive_at(l, next, p);
	case ZYDIS_CATEGORY_CALL:
		if (find(l, next, &next_at))
			l->calls.items[l->calls.cnt++] = (struct step){next_at, *p};
		return true;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_INTERRUPT:
		return in->mnemonic == ZYDIS_MNEMONIC_INT3 || in->mnemonic == ZYDIS_MNEMONIC_HLT;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_UD2 || arrive_at(l, next, p);
	}
}

/* Room on the stack, in a way that leaves the flags alone. */
static bool gives_back(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	return in->mnemonic == ZYDIS_MNEMONIC_LEA && is_register(&ops[0], ZYDIS_REGISTER_RSP);
}

/* One instruction, in the state that control comes to it with. */
static bool follow(struct look *l, const struct step *step)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct place p = step->place;
	ZydisDecodedInstruction in;
	size_t offset = step->at;
	const struct code_piece *piece = piece_at(l, &offset);

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&l->decoder, piece->bytes + offset,
						 piece->size - offset, &in, ops)) ||
	    l->flow->reached[step->at] != in.length)
		return false;
	for (int i = 0; i < in.operand_count; i++) {
		if (!operand_is_clear(&ops[i], &p) && !gives_back(&in, ops))
			return false;
	}
	return follow_registers(&in, ops, &p) && follow_flow(l, &in, step->at, &p);
}

static bool follow_all(struct look *l)
{
	if (!arrive(l, 0, (struct place){.frame = NO_FRAME}))
		return false;
	while (l->sure.cnt || l->calls.cnt) {
		if (l->sure.cnt) {
			const struct step step = l->sure.items[--l->sure.cnt];

			if (!follow(l, &step))
				return false;
		} else {
			const struct step step = l->calls.items[--l->calls.cnt];

			/* It never comes back if the place disagrees. */
			if (!l->places[step.at].known && !arrive(l, step.at, step.place))
				return false;
		}
	}
	return true;
}

/* Whether no byte is left that control might come to unseen. */
static bool rest_is_padding(struct look *l)
{
	ZydisDecodedInstruction in;
	size_t at = 0;

	while (at < l->size) {
		size_t offset = at;
		const struct code_piece *piece = piece_at(l, &offset);

		if (l->places[at].known) {
			at += l->flow->reached[at];
			continue;
		}
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
			    &l->decoder, NULL, piece->bytes + offset, piece->size - offset, &in)))
			return false;
		switch (in.mnemonic) {
		case ZYDIS_MNEMONIC_NOP:
		case ZYDIS_MNEMONIC_INT3:
		case ZYDIS_MNEMONIC_UD2:
		case ZYDIS_MNEMONIC_HLT:
			break;
		default:
			return false;
		}
		at += in.length;
	}
	return true;
}

static int by_from(const void *pa, const void *pb)
{
	const struct code_edge *a = pa, *b = pb;

	return (a->from > b->from) - (a->from < b->from);
}

static bool look_new(struct look *l, size_t insns)
{
	size_t edges_cnt = l->flow->edges_cnt;

	ZydisDecoderInit(&l->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	l->places = calloc(l->size + 1, sizeof(*l->places));
	l->edges = calloc(edges_cnt + 1, sizeof(*l->edges));
	/* Each place is set twice at most, and each instruction followed as often. */
	l->sure.items = malloc((2 * insns + 2) * sizeof(*l->sure.items));
	l->calls.items = malloc((2 * insns + 2) * sizeof(*l->calls.items));
	if (!l->places || !l->edges || !l->sure.items || !l->calls.items)
		return false;
	if (edges_cnt)
		memcpy(l->edges, l->flow->edges, edges_cnt * sizeof(*l->edges));
	qsort(l->edges, edges_cnt, sizeof(*l->edges), by_from);
	return true;
}

bool plain__function(const struct code_piece *pieces, size_t cnt, const struct code *code,
		     const struct code_flow *flow)
{
	struct look l = {.pieces = pieces, .pieces_cnt = cnt, .flow = flow};
	bool plain;

	if (code->bad || code->no_exits || code->exits_missing || !flow->certain)
		return false;
	for (size_t i = 0; i < cnt; i++)
		l.size += pieces[i].size;
	plain = l.size <= MAX_SIZE && look_new(&l, code->insns) && follow_all(&l) &&
		rest_is_padding(&l);
	free(l.places);
	free(l.edges);
	free(l.sure.items);
	free(l.calls.items);
	return plain;
}
