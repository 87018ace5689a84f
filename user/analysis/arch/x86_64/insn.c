// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zydis (in its minimal mode) gives lengths and fields; the meaning is read off the opcode maps, as
 * the kernel does it.
 */
#include "arch/insn.h"

#include <Zydis/Zydis.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/insn_inside.h"
#include "arch/x86_64/x86_64.h"
#include "arch/prefix_memo.h"

#define BRANCH_KINDS  18
#define DISTANCE_SIZE 4

struct decoder {
	struct insn_decoder insn;
	ZydisDecoder zydis;
	struct prefix_memo memo;
	struct insn branches[BRANCH_KINDS]; /* by kind; length 0: none was met yet */
	/* By slot of the memo, and not cleared: most are never used. */
	struct insn known[PREFIX_MEMO_ENTRIES];
};

struct insn_decoder *x86_64_decoder__new(void)
{
	struct decoder *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	memset(d, 0, offsetof(struct decoder, known));
	ZydisDecoderInit(&d->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&d->zydis, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	return &d->insn;
}

void x86_64_decoder__forget(struct insn_decoder *insn)
{
	struct decoder *d = (struct decoder *)insn;

	memset(&d->memo, 0, sizeof(d->memo));
	memset(d->branches, 0, sizeof(d->branches));
}

void x86_64_decoder__free(struct insn_decoder *d)
{
	free(d);
}

#define RAX 0
#define RSP 4 /* register number, without a REX extension */
#define RBP 5

static void fields_read(const ZydisDecodedInstruction *in, const uint8_t *bytes,
			struct insn_fields *f)
{
	*f = (struct insn_fields){
		.op = in->opcode,
		.map_0f = in->opcode_map == ZYDIS_OPCODE_MAP_0F,
		.mod = in->raw.modrm.mod,
		.reg = in->raw.modrm.reg,
		.rm = in->raw.modrm.rm,
		.has_sib = in->raw.sib.offset != 0,
		.scale = in->raw.sib.scale,
		.index = in->raw.sib.index,
		.base = in->raw.sib.base,
		.disp = in->raw.disp.value,
		.imm = in->raw.imm[0].value.s,
	};
	for (int i = 0; i < in->raw.prefix_count; i++) {
		uint8_t p = bytes[i];

		if (p == 0x66)
			f->operand16 = true;
		else if (p == 0x26 || p == 0x2e || p == 0x36 || p == 0x3e || p == 0xf0)
			f->bad_prefix = true;
		if (p == 0x3e)
			f->notrack = true;
		f->far |= p == 0x64 || p == 0x65;
		f->locks |= p == 0xf0;
		f->repeats |= p == 0xf3;
		if ((p & 0xf0) == 0x40)
			f->rex = p;
	}
}

/* Whether the ModRM r/m operand is the register rsp. */
static bool rm_is_rsp(const struct insn_fields *f)
{
	return f->mod == 3 && f->rm == RSP && !(f->rex & 1);
}

static bool reg_is_rsp(const struct insn_fields *f)
{
	return f->reg == RSP && !(f->rex & 4);
}

/* add, sub, and, ... with an immediate on rsp. */
static void stack_group1(const struct insn_fields *f, struct insn *out)
{
	out->stack = STACK_UNKNOWN;
	if (f->reg == 5 || f->reg == 0) {
		out->stack = STACK_MOVES;
		out->down = f->reg == 5 ? f->imm : -f->imm;
	} else if (f->reg == 4) {
		out->stack = STACK_FRAME;
	} else if (f->reg == 7) {
		out->stack = STACK_MOVES; /* cmp */
	}
}

/* lea into rsp. */
static void stack_lea(const struct insn_fields *f, struct insn *out)
{
	bool from_rsp =
		f->rm == RSP && f->has_sib && f->base == RSP && f->index == 4 && !(f->rex & 3);
	bool from_rbp = f->mod && f->rm == RBP && !(f->rex & 1); /* mod 0: rip */

	out->stack = from_rsp ? STACK_MOVES : from_rbp ? STACK_FRAME : STACK_UNKNOWN;
	out->down = from_rsp ? -f->disp : 0;
}

/* Whether another instruction of the one-byte map than those of stack_write() writes rsp. */
static bool writes_rsp(const struct insn_fields *f)
{
	uint8_t low = f->op & 7;
	bool to_rm = rm_is_rsp(f), to_reg = reg_is_rsp(f);

	switch (f->op) {
	case 0x63: /* movsxd */
		return to_reg;
	case 0x87: /* xchg */
		return to_rm || to_reg;
	case 0x94: /* xchg with rax */
	case 0xbc: /* mov of a constant */
		return !(f->rex & 1);
	case 0xc7: /* mov of a constant */
	case 0xc1: /* shifts and rotations */
	case 0xd1:
	case 0xd3:
		return to_rm;
	case 0xf7: /* not, neg */
		return to_rm && f->reg >= 2;
	case 0xff: /* inc, dec */
		return to_rm && f->reg < 2;
	default: /* add, sub, ... with another register or memory */
		return f->op < 0x38 && ((low == 1 && to_rm) || (low == 3 && to_reg));
	}
}

/* Instructions of the one-byte map that write the register rsp, other than push and pop. */
static void stack_write(const struct insn_fields *f, struct insn *out)
{
	bool to_rm = rm_is_rsp(f), to_reg = reg_is_rsp(f);

	if (f->op == 0x8d && to_reg) {
		stack_lea(f, out);
	} else if ((f->op == 0x81 || f->op == 0x83) && to_rm) {
		stack_group1(f, out);
	} else if (f->op == 0x89 && to_rm) { /* mov */
		out->stack = f->reg == RBP && !(f->rex & 4) ? STACK_FRAME : STACK_UNKNOWN;
	} else if (f->op == 0x8b && to_reg) {
		out->stack =
			f->mod == 3 && f->rm == RBP && !(f->rex & 1) ? STACK_FRAME : STACK_UNKNOWN;
	} else if (writes_rsp(f)) {
		out->stack = STACK_UNKNOWN;
	}
}

/* Whether the memory operand is [base + index * 4 or 8 + disp]; notes its parts. */
static bool table_operand(const struct insn_fields *f, struct insn *out)
{
	if (f->mod == 3 || !f->has_sib || (f->index == 4 && !(f->rex & 2)) || f->scale < 2)
		return false;
	out->table_scale = 1 << f->scale;
	out->table_base = f->mod == 0 && f->base == RBP ? INSN_NO_REG : f->base | (f->rex & 1) << 3;
	out->table_index = f->index | (f->rex & 2) << 2;
	out->table_disp = f->disp;
	return true;
}

/* `and` of a register with 1, 3, 7, ..., which leaves that much of it at most. */
static void mask(const struct insn_fields *f, uint8_t reg, struct insn *out)
{
	out->masks = !f->operand16 && f->imm > 0 && !(f->imm & (f->imm + 1));
	out->masked_reg = reg;
	out->constant = f->imm;
}

/* Fills in a jump table's operand of the form [a + b], of which one may be the table and one the
 * place in it. */
static void sum_operand(const struct insn_fields *f, struct insn *out)
{
	bool wide = f->op == 0x8b && (f->rex & 8);

	if (f->mod || !f->has_sib || f->scale || (f->index == 4 && !(f->rex & 2)) ||
	    f->base == RBP || f->operand16 || wide)
		return;
	out->sum_load = true;
	out->sum_regs[0] = f->base | (f->rex & 1) << 3;
	out->sum_regs[1] = f->index | (f->rex & 2) << 2;
}

static void jump_indirect(const struct insn_fields *f, struct insn *out)
{
	bool table = table_operand(f, out);

	if (f->notrack)
		out->flow = FLOW_JMP_TABLE; /* compilers mark only jump tables so */
	else if (f->mod == 3)
		out->flow = FLOW_JMP_REG;
	else if (table)
		out->flow = FLOW_JMP_TABLE;
	else
		out->flow = FLOW_JMP_TAIL;
}

static void classify_ff(const struct insn_fields *f, struct insn *out)
{
	out->by_slot = f->mod == 0 && f->rm == RBP;
	out->slot = f->disp;
	switch (f->reg) {
	case 2:
	case 3:
		out->flow = FLOW_CALL;
		break;
	case 4:
	case 5:
		jump_indirect(f, out);
		break;
	case 6:
		out->down = 8;
		break;
	default:
		stack_write(f, out);
	}
}

/* Pushes and pops, enter and leave. Returns whether the instruction is one of these. */
static bool classify_stack(const struct insn_fields *f, struct insn *out)
{
	switch (f->op) {
	case 0x50 ... 0x57:
		out->down = f->operand16 ? 2 : 8;
		if (out->length == 1 || (out->length == 2 && f->rex == 0x41))
			out->site = SITE_PUSH;
		return true;
	case 0x58 ... 0x5f:
		if (f->op == 0x5c && !(f->rex & 1))
			out->stack = STACK_UNKNOWN;
		out->down = f->operand16 ? -2 : -8;
		return true;
	case 0x68:
	case 0x6a:
	case 0x9c:
		out->down = 8;
		return true;
	case 0x8f:
	case 0x9d:
		out->down = -8;
		return true;
	case 0xc8:
		out->stack = STACK_UNKNOWN;
		return true;
	case 0xc9:
		out->stack = STACK_FRAME;
		return true;
	default:
		return false;
	}
}

/* Jumps, calls, returns and traps. Returns whether the instruction is one of these. */
static bool classify_flow(const struct insn_fields *f, struct insn *out)
{
	switch (f->op) {
	case 0x70 ... 0x7f:
		out->flow = FLOW_JCC;
		out->cond = f->op & 15;
		out->is_jcc_opcode = true;
		out->site = SITE_JCC;
		return true;
	case 0xe0 ... 0xe3:
		out->flow = FLOW_JCC;
		return true;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		out->flow = FLOW_RET;
		out->far_return = f->op >= 0xca;
		out->near_return = f->op == 0xc3 && !f->operand16;
		return true;
	case 0xe8:
		out->flow = FLOW_CALL;
		out->site = SITE_CALL;
		return true;
	case 0xe9:
	case 0xeb:
		out->flow = FLOW_JMP;
		out->site = SITE_JMP;
		return true;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		out->flow = FLOW_STOP;
		return true;
	case 0xcd:
		out->system_call = true;
		return true;
	case 0xff:
		classify_ff(f, out);
		return true;
	default:
		return false;
	}
}

#define FIRST_PAGE 4096

/* Whether a `mov $0, address` writes to the first page: an absolute address, without a segment. */
static bool is_in_first_page(const struct insn_fields *f)
{
	bool absolute =
		f->mod == 0 && f->has_sib && f->base == RBP && f->index == RSP && !(f->rex & 2);

	return absolute && !f->far && f->disp >= 0 && f->disp < FIRST_PAGE;
}

static void classify_onebyte(const struct insn_fields *f, struct insn *out)
{
	if (classify_stack(f, out) || classify_flow(f, out))
		return;
	switch (f->op) {
	case 0x90:
		if (!(f->rex & 1))
			out->site = SITE_NOP;
		break;
	case 0x8d:
		stack_write(f, out);
		out->lea_rip = f->mod == 0 && f->rm == RBP;
		out->lea_reg = f->reg | (f->rex & 4) << 1;
		if (out->lea_rip)
			out->rel = f->disp;
		out->lea_scaled =
			f->mod == 0 && f->has_sib && f->scale == 2 && f->base == RBP && !f->disp;
		break;
	case 0x63:
	case 0x8b:
		stack_write(f, out);
		out->table_load = table_operand(f, out);
		sum_operand(f, out);
		break;
	case 0x25:
		stack_write(f, out);
		mask(f, RAX, out);
		break;
	case 0x3c ... 0x3d:
		out->compares = true;
		out->constant = f->imm;
		break;
	case 0x80 ... 0x81:
	case 0x83:
		stack_write(f, out);
		/* A subtraction sets the flags as well: clang's unoptimised switches */
		out->compares = f->reg == 7 || f->reg == 5;
		out->constant = f->imm;
		if (f->op != 0x80 && f->mod == 3 && f->reg == 4)
			mask(f, f->rm | (f->rex & 1) << 3, out);
		break;
	case 0xc6 ... 0xc7:
		stack_write(f, out);
		out->faults = is_in_first_page(f);
		break;
	default:
		stack_write(f, out);
	}
}

static void classify_twobyte(const struct insn_fields *f, struct insn *out, const uint8_t *bytes)
{
	switch (f->op) {
	case 0x80 ... 0x8f:
		out->flow = FLOW_JCC;
		out->cond = f->op & 15;
		out->is_jcc_opcode = true;
		out->site = SITE_JCC;
		break;
	case 0x05:
	case 0x34:
		out->system_call = true;
		break;
	case 0x0b:
	case 0xb9:
	case 0xff:
		out->flow = FLOW_STOP;
		break;
	case 0x1f:
		out->is_nop = true;
		break;
	case 0x1e:
		out->endbr = out->length == 4 && bytes[0] == 0xf3 && bytes[3] == 0xfa;
		break;
	case 0xa0:
	case 0xa8:
		out->down = 8;
		break;
	case 0xa1:
	case 0xa9:
		out->down = -8;
		break;
	case 0x40 ... 0x4f: /* cmov */
		if (reg_is_rsp(f))
			out->stack = STACK_UNKNOWN;
		break;
	default:
		break;
	}
}

static bool fetches(const ZydisDecodedInstruction *in, const struct insn_fields *f)
{
	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && f->op == 0x8b &&
	       (f->mod == 1 || f->mod == 2) && f->rm == RBP && !(f->rex & 1);
}

/* Whether no operand that it may write is rbp; of what is not sure, no. */
static bool keeps_bp(const ZydisDecodedInstruction *in, const struct insn_fields *f)
{
	bool low_is_rbp = (f->op & 7) == RBP && !(f->rex & 1);

	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return !(f->reg == RBP && !(f->rex & 4)) &&
		       !(f->mod == 3 && f->rm == RBP && !(f->rex & 1));
	if (f->map_0f)
		return !(f->op >= 0xc8 && f->op <= 0xcf && low_is_rbp); /* bswap */
	switch (f->op) {
	case 0x50 ... 0x5f:
	case 0x90 ... 0x97:
	case 0xb8 ... 0xbf:
		return !low_is_rbp;
	case 0xc8 ... 0xc9: /* enter, leave */
		return false;
	default:
		return true;
	}
}

/* *distance: where its distance begins, if it has one to a variable and nothing behind that; else
 * 0: all of its bytes matter. */
static bool decode(struct decoder *d, const uint8_t *bytes, size_t len, struct insn *out,
		   unsigned int *distance)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;
	struct insn_fields f;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d->zydis, &ctx, bytes, len, &in)))
		return false;
	*out = (struct insn){.length = in.length, .site = SITE_STEP, .rel = 0};
	fields_read(&in, bytes, &f);
	if (in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
		if (in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
			classify_onebyte(&f, out);
		else if (in.opcode_map == ZYDIS_OPCODE_MAP_0F)
			classify_twobyte(&f, out, bytes);
	}
	if (out->flow == FLOW_JMP || out->flow == FLOW_JCC || out->flow == FLOW_CALL)
		out->rel = f.imm;
	out->is_leave = in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
			in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && f.op == 0xc9 && !f.operand16;
	out->keeps_bp = keeps_bp(&in, &f);
	out->near = (in.attributes & ZYDIS_ATTRIB_HAS_MODRM) && f.mod == 0 && f.rm == RBP;
	*distance = out->near && in.raw.disp.offset + DISTANCE_SIZE == in.length
			    ? in.raw.disp.offset
			    : 0;
	out->probeable = insn_uprobe__accepts(&in, &f, out) &&
			 !(d->insn.spares_calls && out->flow == FLOW_CALL);
	out->dear = insn_cost__is_dear(&in, &f);
	out->fetches = fetches(&in, &f);
	out->site_across = out->site;
	if (in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    (f.map_0f || in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)) {
		out->may_become_call =
			d->insn.call_nops != CALL_NOPS_10 && insn_uprobe__may_become_call(&f, out);
		if (d->insn.call_nops == CALL_NOPS_5)
			insn_uprobe__classify_nop(&f, bytes, out);
		else if (d->insn.call_nops == CALL_NOPS_10)
			insn_uprobe__classify_nop10(&f, bytes, out);
		if (d->insn.spares_nop5 && out->may_become_call)
			out->probeable = false;
	}
	return true;
}

/* Distances of 4 bytes make nearly each instruction that has one a different one. Those to
 * variables are known by their other bytes; of the rest none is remembered. */
static bool recurs(const struct insn *in, unsigned int distance)
{
	if (in->near)
		return distance && !in->is_nop;
	return in->length <= 2 || in->flow == FLOW_NEXT || !in->rel;
}

/* Sets *out to the instruction that is remembered by slot, as it is at these bytes. */
static void recall(const struct decoder *d, int slot, const uint8_t *bytes, struct insn *out)
{
	int32_t distance;

	*out = d->known[slot];
	if (!out->near)
		return;
	memcpy(&distance, bytes + d->memo.length[slot], sizeof(distance));
	if (out->lea_rip)
		out->rel = distance;
	if (out->by_slot)
		out->slot = distance;
}

/* The kind of a branch with a distance of 4 bytes and no prefix: 0 and 1 for call and jmp, 2 to 17
 * for the jcc; -1: another instruction. Branches of one kind differ in their distance only.
 * *opcode: how many bytes the opcode has. */
static int branch_kind(const uint8_t *bytes, size_t len, unsigned int *opcode)
{
	*opcode = 1;
	if (len >= 5 && (bytes[0] == 0xe8 || bytes[0] == 0xe9))
		return bytes[0] & 1;
	*opcode = 2;
	return len >= 6 && bytes[0] == 0x0f && bytes[1] >> 4 == 8 ? 2 + (bytes[1] & 15) : -1;
}

/* Decodes such a branch. Some with the distance 0 are something special. */
static bool branch_decode(struct decoder *d, const uint8_t *bytes, size_t len, struct insn *out)
{
	unsigned int opcode, distance_at;
	int kind = branch_kind(bytes, len, &opcode);
	int32_t distance;

	if (kind < 0)
		return false;
	memcpy(&distance, bytes + opcode, sizeof(distance));
	if (!distance)
		return false;
	if (!d->branches[kind].length && !decode(d, bytes, len, &d->branches[kind], &distance_at))
		return false;
	*out = d->branches[kind];
	out->rel = distance;
	return true;
}

bool x86_64_decoder__decode(struct insn_decoder *insn, const uint8_t *bytes, size_t len,
			    struct insn *out)
{
	struct decoder *d = (struct decoder *)insn;
	unsigned int distance;
	int slot;

	if (branch_decode(d, bytes, len, out))
		return true;
	slot = prefix_memo__find(&d->memo, bytes, len);
	if (slot >= 0) {
		recall(d, slot, bytes, out);
		return true;
	}
	if (!decode(d, bytes, len, out, &distance))
		return false;
	if (recurs(out, distance)) {
		slot = prefix_memo__add(&d->memo, bytes, len, distance ? distance : out->length,
					distance ? DISTANCE_SIZE : 0);
		if (slot >= 0)
			d->known[slot] = *out;
	}
	return true;
}
