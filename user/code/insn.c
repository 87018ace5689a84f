// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zydis (in its minimal mode) gives lengths and fields; the meaning is read off the opcode maps, as
 * the kernel does it. What the kernel accepts and emulates: arch/x86/kernel/uprobes.c.
 */
#include "code/insn.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct insn_decoder {
	ZydisDecoder zydis;
	bool nop5_emulated;
};

int insn_decoder__new(bool nop5_emulated, struct insn_decoder **out)
{
	struct insn_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	ZydisDecoderInit(&d->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&d->zydis, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	d->nop5_emulated = nop5_emulated;
	*out = d;
	return 0;
}

void insn_decoder__free(struct insn_decoder *d)
{
	free(d);
}

#define RSP 4 /* register number, without a REX extension */
#define RBP 5

/* The fields that the classification looks at. */
struct fields {
	uint8_t op;
	bool map_0f;	 /* two-byte opcode */
	bool operand16;	 /* 66 prefix */
	bool bad_prefix; /* segment override or lock: the kernel refuses a probe */
	bool notrack;
	bool locks, repeats;  /* f0, f3 prefix */
	uint8_t rex;	      /* the whole byte, 0: none */
	uint8_t mod, reg, rm; /* without REX extension */
	bool has_sib;
	uint8_t scale, index, base; /* of the SIB byte */
	int64_t disp, imm;
};

static void fields_read(const ZydisDecodedInstruction *in, const uint8_t *bytes, struct fields *f)
{
	*f = (struct fields){
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
		f->locks |= p == 0xf0;
		f->repeats |= p == 0xf3;
		if ((p & 0xf0) == 0x40)
			f->rex = p;
	}
}

/* Whether the ModRM r/m operand is the register rsp. */
static bool rm_is_rsp(const struct fields *f)
{
	return f->mod == 3 && f->rm == RSP && !(f->rex & 1);
}

static bool reg_is_rsp(const struct fields *f)
{
	return f->reg == RSP && !(f->rex & 4);
}

/* add, sub, and, ... with an immediate on rsp. */
static void stack_group1(const struct fields *f, struct insn *out)
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

/* Instructions of the one-byte map that write the register rsp, other than push and pop. */
static void stack_write(const struct fields *f, struct insn *out)
{
	uint8_t low = f->op & 7;
	bool to_rm = rm_is_rsp(f), to_reg = reg_is_rsp(f);

	if (f->op == 0x8d && to_reg) { /* lea */
		bool from_rsp = f->rm == RSP && f->has_sib && f->base == RSP && f->index == 4 &&
				!(f->rex & 3);
		bool from_rbp = f->mod && f->rm == RBP && !(f->rex & 1); /* mod 0: rip */

		out->stack = from_rsp ? STACK_MOVES : from_rbp ? STACK_FRAME : STACK_UNKNOWN;
		out->down = from_rsp ? -f->disp : 0;
	} else if ((f->op == 0x81 || f->op == 0x83) && to_rm) {
		stack_group1(f, out);
	} else if (f->op == 0x89 && to_rm) { /* mov */
		out->stack = f->reg == RBP && !(f->rex & 4) ? STACK_FRAME : STACK_UNKNOWN;
	} else if (f->op == 0x8b && to_reg) {
		out->stack =
			f->mod == 3 && f->rm == RBP && !(f->rex & 1) ? STACK_FRAME : STACK_UNKNOWN;
	} else if (f->op < 0x38 && ((low == 1 && to_rm) || (low == 3 && to_reg))) {
		out->stack = STACK_UNKNOWN; /* add, sub, ... with another register or memory */
	} else if ((f->op == 0x87 && (to_rm || to_reg)) || (f->op == 0x63 && to_reg) ||
		   (f->op == 0x94 && !(f->rex & 1)) || (f->op == 0xbc && !(f->rex & 1))) {
		out->stack = STACK_UNKNOWN; /* xchg, movsxd, mov imm */
	} else if (to_rm && (f->op == 0xc7 || f->op == 0xc1 || f->op == 0xd1 || f->op == 0xd3 ||
			     (f->op == 0xf7 && f->reg >= 2) || (f->op == 0xff && f->reg < 2))) {
		out->stack = STACK_UNKNOWN;
	}
}

/* Whether the memory operand is [base + index * 4 or 8 + disp]; notes its parts. */
static bool table_operand(const struct fields *f, struct insn *out)
{
	if (f->mod == 3 || !f->has_sib || (f->index == 4 && !(f->rex & 2)) || f->scale < 2)
		return false;
	out->table_scale = 1 << f->scale;
	out->table_base = f->mod == 0 && f->base == RBP ? INSN_NO_REG : f->base | (f->rex & 1) << 3;
	out->table_disp = f->disp;
	return true;
}

/* The same for [a + b], of which one may be the table and one the place in it. */
static void sum_operand(const struct fields *f, struct insn *out)
{
	bool wide = f->op == 0x8b && (f->rex & 8);

	if (f->mod || !f->has_sib || f->scale || (f->index == 4 && !(f->rex & 2)) ||
	    f->base == RBP || f->operand16 || wide)
		return;
	out->sum_load = true;
	out->sum_regs[0] = f->base | (f->rex & 1) << 3;
	out->sum_regs[1] = f->index | (f->rex & 2) << 2;
}

static void jump_indirect(const struct fields *f, struct insn *out)
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

static void classify_ff(const struct fields *f, struct insn *out)
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

static void classify_onebyte(const struct fields *f, struct insn *out)
{
	switch (f->op) {
	case 0x50 ... 0x57:
		out->down = f->operand16 ? 2 : 8;
		if (out->length == 1 || (out->length == 2 && f->rex == 0x41))
			out->site = SITE_PUSH;
		break;
	case 0x58 ... 0x5f:
		if (f->op == 0x5c && !(f->rex & 1))
			out->stack = STACK_UNKNOWN;
		out->down = f->operand16 ? -2 : -8;
		break;
	case 0x68:
	case 0x6a:
	case 0x9c:
		out->down = 8;
		break;
	case 0x8f:
	case 0x9d:
		out->down = -8;
		break;
	case 0x70 ... 0x7f:
		out->flow = FLOW_JCC;
		out->cond = f->op & 15;
		out->is_jcc_opcode = true;
		out->site = SITE_JCC;
		break;
	case 0xe0 ... 0xe3:
		out->flow = FLOW_JCC;
		break;
	case 0x90:
		if (!(f->rex & 1))
			out->site = SITE_NOP;
		break;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		out->flow = FLOW_RET;
		out->far_return = f->op >= 0xca;
		break;
	case 0xc8:
		out->stack = STACK_UNKNOWN;
		break;
	case 0xc9:
		out->stack = STACK_FRAME;
		break;
	case 0xe8:
		out->flow = FLOW_CALL;
		out->site = SITE_CALL;
		break;
	case 0xe9:
	case 0xeb:
		out->flow = FLOW_JMP;
		out->site = SITE_JMP;
		break;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		out->flow = FLOW_STOP;
		break;
	case 0xcd:
		out->system_call = true;
		break;
	case 0xff:
		classify_ff(f, out);
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
		break;
	default:
		stack_write(f, out);
	}
}

static void classify_twobyte(const struct fields *f, struct insn *out, const uint8_t *bytes)
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

/* The nops of these lengths that the kernel itself would use; other forms of 0f 1f are
 * single-stepped. Longer ones have a segment prefix. */
static bool is_kernel_nop(const uint8_t *bytes, size_t length)
{
	static const uint8_t nops[][8] = {
		[3] = {0x0f, 0x1f, 0x00},	[4] = {0x0f, 0x1f, 0x40}, [5] = {0x0f, 0x1f, 0x44},
		[6] = {0x66, 0x0f, 0x1f, 0x44}, [7] = {0x0f, 0x1f, 0x80}, [8] = {0x0f, 0x1f, 0x84},
	};

	return length >= 3 && length <= 8 && !memcmp(bytes, nops[length], length);
}

/*
 * Nops of more than one byte, on kernels that know them. 6.18 makes calls of all forms of nop and
 * nopl that take five bytes, whatever their prefixes and operands; across two pages it cannot patch
 * them. Of other nopl it emulates its own. (can_optimize(), branch_setup_xol_ops())
 */
static void classify_long_nop(const struct fields *f, const uint8_t *bytes, struct insn *out)
{
	bool nopl = f->map_0f && f->op == 0x1f && !f->reg && !(f->rex & 4);
	/* 6.18 takes `pause` for a nop, its successors do not. */
	bool nop = !f->map_0f && f->op == 0x90 && !(f->rex & 1) && !f->repeats;

	if (is_kernel_nop(bytes, out->length))
		out->site = SITE_NOP;
	out->site_across = out->site;
	if (out->length == 5 && (nop || nopl))
		out->site = SITE_NOP5;
}

/* What 6.18 makes a call of, and what later kernels are to take for nops as well: jumps to the next
 * instruction, moves of a register to itself. */
static bool may_become_call(const struct fields *f, const struct insn *in)
{
	if (in->length != 5)
		return false;
	if (f->map_0f)
		return f->op == 0x1f;
	return f->op == 0x90 || (f->op == 0xe9 && !in->rel) || (f->op == 0x8d && !f->disp) ||
	       (f->op == 0x89 && f->mod == 3);
}

/* One-byte opcodes that uprobes refuse in 64-bit programs. */
static bool onebyte_refused(uint8_t op)
{
	switch (op) {
	case 0x06 ... 0x07:
	case 0x0e:
	case 0x16 ... 0x17:
	case 0x1e ... 0x1f:
	case 0x27:
	case 0x2f:
	case 0x37:
	case 0x3f:
	case 0x60 ... 0x62:
	case 0x6c ... 0x6f:
	case 0x82:
	case 0x8e: /* mov to a segment register: may mask exceptions */
	case 0x9a:
	case 0xcc ... 0xcf:
	case 0xd4 ... 0xd6:
	case 0xe4 ... 0xe7:
	case 0xea:
	case 0xec ... 0xef:
	case 0xf0 ... 0xf1:
	case 0xf4:
	case 0xfa ... 0xfb:
		return true;
	default:
		return false;
	}
}

/* The same for 0f opcodes: system instructions and those that do not go on. */
static bool twobyte_refused(uint8_t op)
{
	switch (op) {
	case 0x00 ... 0x01:
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x0c:
	case 0x30:
	case 0x34 ... 0x35:
	case 0x37:
	case 0x78 ... 0x79:
	case 0xae:
	case 0xb9:
	case 0xff:
		return true;
	default:
		return false;
	}
}

/* AMD's four-operand multiply-adds, which the kernel's decoder does not know. */
static bool is_fma4(const ZydisDecodedInstruction *in)
{
	uint8_t high = in->opcode >> 4, low = in->opcode & 15;

	if (in->opcode_map != ZYDIS_OPCODE_MAP_0F3A)
		return false;
	return (high == 5 && low >= 12) || ((high == 6 || high == 7) && low >= 8);
}

static bool accepted(const ZydisDecodedInstruction *in, const struct fields *f,
		     const struct insn *out)
{
	if (f->bad_prefix)
		return false;
	if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		return !is_fma4(in);
	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if ((out->flow == FLOW_CALL || out->flow == FLOW_JMP || out->flow == FLOW_JCC) &&
	    f->operand16)
		return false;
	/* xchg %r8,%rax: the kernel takes 90 with any prefix for a nop and emulates it as one. */
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && f->op == 0x90 && (f->rex & 1))
		return false;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return !onebyte_refused(f->op);
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return !twobyte_refused(f->op);
	return true;
}

/* One-byte opcodes that are dear: x87 and division; strings, which may be repeated; what goes to
 * the kernel, to devices or to all other CPUs. */
static bool onebyte_dear(const struct fields *f)
{
	switch (f->op) {
	case 0x6c ... 0x6f:
	case 0x9b:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
	case 0xcc ... 0xcf:
	case 0xd8 ... 0xdf:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xf4:
	case 0xfa ... 0xfb:
		return true;
	case 0x86 ... 0x87: /* xchg with memory locks it */
		return f->mod != 3;
	case 0xf6 ... 0xf7:
		return f->reg >= 6;
	default:
		return false;
	}
}

/* The same for 0f opcodes, also in VEX: system instructions, fences, counters and clocks, square
 * roots and division. */
static bool twobyte_dear(uint8_t op)
{
	switch (op) {
	case 0x00 ... 0x0d:
	case 0x20 ... 0x27:
	case 0x30 ... 0x37:
	case 0x51:
	case 0x5e:
	case 0x78 ... 0x79:
	case 0xa2:
	case 0xaa:
	case 0xae:
	case 0xc7:
		return true;
	default:
		return false;
	}
}

/* Of the maps behind those what computes on registers is as fast as the rest; what gathers, or
 * speaks to the system, is not. */
static bool map_0f38_dear(uint8_t op)
{
	return (op >= 0x80 && op <= 0x93) || op >= 0xf8;
}

static bool is_dear(const ZydisDecodedInstruction *in, const struct fields *f)
{
	if (f->locks || (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
			 in->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX))
		return true;
	switch (in->opcode_map) {
	case ZYDIS_OPCODE_MAP_DEFAULT:
		return onebyte_dear(f) || (f->op == 0x90 && f->repeats); /* pause */
	case ZYDIS_OPCODE_MAP_0F:
		return twobyte_dear(f->op);
	case ZYDIS_OPCODE_MAP_0F38:
		return map_0f38_dear(f->op);
	case ZYDIS_OPCODE_MAP_0F3A:
		return false;
	default:
		return true;
	}
}

/* As unoptimised code does it, from rax or xmm0. */
static bool takes_result(const ZydisDecodedInstruction *in, const struct fields *f,
			 const struct insn *out)
{
	bool of_first = f->reg == 0 && !(f->rex & 4);
	bool to_variable = (f->mod == 1 || f->mod == 2) && f->rm == RBP && !(f->rex & 1);

	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (f->op == 0x88 || f->op == 0x89))
		return of_first && (to_variable || f->mod == 3);
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (f->op == 0x81 || f->op == 0x83))
		return rm_is_rsp(f) && out->stack == STACK_MOVES && out->down < 0;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F && (f->op == 0x11 || f->op == 0x29))
		return of_first && to_variable;
	return in->opcode_map == ZYDIS_OPCODE_MAP_0F && f->op == 0x7e && of_first && f->mod == 3;
}

static bool selects(const ZydisDecodedInstruction *in, const struct fields *f)
{
	bool kept = f->rex & 1 ? f->rm >= 4 : f->rm == 3; /* r12 to r15, rbx */

	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && f->op == 0x83 && f->reg == 7 &&
	       f->mod == 3 && kept;
}

static bool fetches(const ZydisDecodedInstruction *in, const struct fields *f)
{
	bool of_frame = (f->mod == 1 || f->mod == 2) && f->rm == RBP && !(f->rex & 1);

	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return (f->op == 0x8b && (of_frame || f->mod == 3)) ||
		       (f->op == 0x89 && f->mod == 3);
	return in->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	       (f->op == 0x10 || f->op == 0x28 || f->op == 0x6e) && (of_frame || f->mod == 3);
}

bool insn_decode(struct insn_decoder *d, const uint8_t *bytes, size_t len, struct insn *out)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;
	struct fields f;

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
	out->near = (in.attributes & ZYDIS_ATTRIB_HAS_MODRM) && f.mod == 0 && f.rm == RBP;
	out->distance = out->near ? f.disp : 0;
	out->probeable = accepted(&in, &f, out);
	out->dear = is_dear(&in, &f);
	out->takes_result = takes_result(&in, &f, out);
	out->fetches = fetches(&in, &f);
	out->selects = selects(&in, &f);
	out->site_across = out->site;
	if (in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    (f.map_0f || in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)) {
		out->may_become_call = may_become_call(&f, out);
		if (d->nop5_emulated)
			classify_long_nop(&f, bytes, out);
	}
	return true;
}
