// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of the kernel for probed instructions: which it accepts, which it emulates
 * (arch/x86/kernel/uprobes.c). */
#include <string.h>

#include "arch/x86_64/insn_inside.h"

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
 * 6.18 makes calls of all forms of nop and nopl that take five bytes, whatever their prefixes and
 * operands; across two pages it cannot patch them. Of other nopl it emulates its own.
 * (can_optimize(), branch_setup_xol_ops())
 */
void insn_uprobe__classify_nop(const struct insn_fields *f, const uint8_t *bytes, struct insn *out)
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

/*
 * 7.2 makes calls of this form of nop of ten bytes only, and only within one page. Elsewhere it
 * refuses it, as it does all that has a segment prefix. It emulates every other nop and nopl, but
 * `pause`. (is_optimizable_nop10(), insn_is_nop())
 */
void insn_uprobe__classify_nop10(const struct insn_fields *f, const uint8_t *bytes,
				 struct insn *out)
{
	static const uint8_t begin[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84};

	if (f->map_0f && f->op == 0x1f && !f->reg && !(f->rex & 4))
		out->site = SITE_NOP;
	else if (!f->map_0f && f->op == 0x90 && f->repeats)
		out->site = SITE_STEP;
	out->site_across = out->site;
	out->is_nop10 = out->length == INSN_NOP10_SIZE && !memcmp(bytes, begin, sizeof(begin));
}

/* Whether 6.18 makes a call of the instruction, or later kernels may take it for a nop: jumps to
 * the next instruction, moves of a register to itself. */
bool insn_uprobe__may_become_call(const struct insn_fields *f, const struct insn *in)
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

/* Whether the kernel refuses an instruction of two opcode bytes (0f ..): system instructions and
 * those that do not go on. */
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

/* A push of the flags would push the one that the kernel single-steps with: the program would read
 * it, set it again, and die of SIGTRAP. */
static bool shows_stepping(const struct insn_fields *f)
{
	return f->op == 0x9c;
}

/* AMD's four-operand multiply-adds, which the kernel's decoder does not know. */
static bool is_fma4(const ZydisDecodedInstruction *in)
{
	uint8_t high = in->opcode >> 4, low = in->opcode & 15;

	if (in->opcode_map != ZYDIS_OPCODE_MAP_0F3A)
		return false;
	return (high == 5 && low >= 12) || ((high == 6 || high == 7) && low >= 8);
}

bool insn_uprobe__accepts(const ZydisDecodedInstruction *in, const struct insn_fields *f,
			  const struct insn *out)
{
	if (f->bad_prefix)
		return false;
	/* The kernel looks the opcode behind a VEX prefix up among those of one byte: it takes
	 * vpxor (ef) for an out, and refuses it. */
	if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		return !onebyte_refused(in->opcode) && !is_fma4(in);
	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if ((out->flow == FLOW_CALL || out->flow == FLOW_JMP || out->flow == FLOW_JCC) &&
	    f->operand16)
		return false;
	/* xchg %r8,%rax: the kernel takes 90 with any prefix for a nop and emulates it as one. */
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && f->op == 0x90 && (f->rex & 1))
		return false;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return !onebyte_refused(f->op) && !shows_stepping(f);
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return !twobyte_refused(f->op);
	return true;
}
