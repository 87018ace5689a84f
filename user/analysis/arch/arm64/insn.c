// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * By the tables of encodings in the Arm Architecture Reference Manual (DDI 0487, C4.1). What the
 * kernel makes of a probe: arch/arm64/kernel/probes/decode-insn.c. It simulates branches, `ret`,
 * adr and adrp; it steps all else out of line, but for what it refuses. It has learnt over the
 * years what to refuse: what some kernel gets wrong is refused here.
 */
#include "arch/insn.h"

#include <stdlib.h>

#include "arch/arm64/arm64.h"

#define SP 31 /* where an instruction takes the stack pointer and not zero */
#define FP 29

#define is arm64_is

static unsigned int rd(uint32_t w)
{
	return w & 31;
}

static unsigned int rn(uint32_t w)
{
	return w >> 5 & 31;
}

struct insn_decoder *arm64_decoder__new(void)
{
	return calloc(1, sizeof(struct insn_decoder));
}

void arm64_decoder__free(struct insn_decoder *d)
{
	free(d);
}

/* Distances count from the instruction itself, ours from its end. */
static void jump(struct insn *out, enum insn_flow flow, enum site_class site, int64_t rel)
{
	out->flow = flow;
	out->site = site;
	out->rel = rel - ARM64_INSN_SIZE;
}

static void jump_refused(struct insn *out, enum insn_flow flow)
{
	out->flow = flow;
	out->probeable = false;
}

/* Branches. Returns whether it is one. */
static bool classify_branch(uint32_t w, struct insn *out)
{
	if (is(w, 0xfc000000, 0x14000000)) { /* b */
		jump(out, FLOW_JMP, SITE_JMP, arm64_signed(w, 0, 26) * 4);
	} else if (is(w, 0xfc000000, 0x94000000)) { /* bl */
		jump(out, FLOW_CALL, SITE_CALL, arm64_signed(w, 0, 26) * 4);
	} else if (is(w, 0xff000000, 0x54000000)) { /* b.cond; with bit 4, bc.cond */
		jump(out, FLOW_JCC, SITE_JCC, arm64_signed(w, 5, 19) * 4);
		out->cond = w & 15;
		out->is_jcc_opcode = true;
		out->probeable = !(w & 16);	    /* kernels would step bc.cond out of line */
	} else if (is(w, 0x7e000000, 0x34000000)) { /* cbz, cbnz */
		jump(out, FLOW_JCC, SITE_JCC, arm64_signed(w, 5, 19) * 4);
	} else if (is(w, 0x7e000000, 0x36000000)) { /* tbz, tbnz */
		jump(out, FLOW_JCC, SITE_JCC, arm64_signed(w, 5, 14) * 4);
	} else if (is(w, 0xfffffc1f, 0xd65f0000)) { /* ret */
		jump(out, FLOW_RET, SITE_JMP, ARM64_INSN_SIZE);
	} else if (is(w, 0xfffffc1f, 0xd61f0000)) { /* br */
		jump(out, FLOW_JMP_REG, SITE_JMP, ARM64_INSN_SIZE);
	} else if (is(w, 0xfffffc1f, 0xd63f0000)) { /* blr */
		jump(out, FLOW_CALL, SITE_CALL, ARM64_INSN_SIZE);
	} else if (is(w, 0xfffffbff, 0xd65f0bff)) { /* retaa, retab */
		jump_refused(out, FLOW_RET);
	} else if (is(w, 0xfefff800, 0xd61f0800)) { /* braa, braaz, brab, brabz */
		jump_refused(out, FLOW_JMP_REG);
	} else if (is(w, 0xfefff800, 0xd63f0800)) { /* blraa, blraaz, blrab, blrabz */
		jump_refused(out, FLOW_CALL);
	} else if (is(w, 0xfe000000, 0xd6000000)) { /* eret, drps; the rest is none */
		jump_refused(out, FLOW_STOP);
	} else {
		return false;
	}
	return true;
}

/* By their numbers: nop, xpaclri, pacia1716, pacib1716, paciaz, paciasp, pacibz, pacibsp, bti. What
 * authenticates may fault where the kernel does not expect it. */
static bool hint_is_accepted(unsigned int hint)
{
	return hint == 0 || hint == 7 || hint == 8 || hint == 10 || (hint >= 24 && hint <= 27) ||
	       (hint & ~6u) == 32;
}

/* Exceptions, hints, barriers, system registers. Returns whether it is one. */
static bool classify_system(uint32_t w, struct insn *out)
{
	unsigned int hint = w >> 5 & 127;

	if (is(w, 0xffff0000, 0)) { /* udf */
		jump_refused(out, FLOW_STOP);
	} else if (is(w, 0xff000000, 0xd4000000)) { /* svc; brk, hlt and others */
		out->system_call = is(w, 0xffe0001f, 0xd4000001);
		jump_refused(out, out->system_call ? FLOW_NEXT : FLOW_STOP);
		out->dear = true;
	} else if (is(w, 0xfffff01f, 0xd503201f)) { /* hints */
		out->is_nop = hint == 0;
		out->endbr = (hint & ~6u) == 32;
		out->dear = hint >= 1 && hint <= 6; /* yield, wfe, ... */
		out->probeable = hint_is_accepted(hint);
	} else if (is(w, 0xffc00000, 0xd5000000)) { /* msr, mrs, sys, barriers */
		out->dear = !is(w, 0xfff00000, 0xd5300000);
		out->probeable = !is(w, 0xfff8f01f, 0xd500401f) && !is(w, 0xfff00000, 0xd5100000);
	} else {
		return false;
	}
	return true;
}

/* Sums of constants and registers; the stack pointer is the target of those without flags. */
static void classify_sum(uint32_t w, struct insn *out)
{
	int64_t by = (int64_t)(w >> 10 & 0xfff) << (w & 1u << 22 ? 12 : 0);

	if (is(w, 0xbf800000, 0x91000000) && rd(w) == SP) { /* add, sub */
		out->stack = rn(w) == SP ? STACK_MOVES : rn(w) == FP ? STACK_FRAME : STACK_UNKNOWN;
		if (rn(w) == SP)
			out->down = w & 1u << 30 ? by : -by;
	} else if (is(w, 0xbfe00000, 0x8b200000) && rd(w) == SP) { /* the same of a register */
		out->stack = STACK_UNKNOWN;
	} else if (is(w, 0xff800000, 0x92000000) && rd(w) == SP) { /* and: aligns */
		out->stack = STACK_FRAME;
	} else if ((is(w, 0xff800000, 0xb2000000) || is(w, 0xff800000, 0xd2000000)) &&
		   rd(w) == SP) { /* orr, eor */
		out->stack = STACK_UNKNOWN;
	} else if (is(w, 0xffa0f800, 0x04205000) && rd(w) == SP) { /* addvl, addpl */
		out->stack = STACK_UNKNOWN;
	} else if (is(w, 0x7f800000, 0x71000000)) { /* subs, cmp */
		out->compares = true;
		out->constant = by;
	}
}

/* The bytes that a pair's distance counts in. */
static int pair_scale(uint32_t w)
{
	unsigned int opc = w >> 30;
	bool loads = w & 1u << 22;

	if (w & 1u << 26) /* of vectors */
		return 4 << opc;
	return opc == 2 ? 8 : opc == 1 && !loads ? 16 /* stgp */ : 4;
}

/* Loads and stores. */
static void classify_memory(uint32_t w, struct insn *out)
{
	int64_t by = 0;

	/* Before or after them the address moves on: pairs, single registers, tags. */
	if (is(w, 0x3a800000, 0x28800000))
		by = arm64_signed(w, 15, 7) * pair_scale(w);
	else if (is(w, 0x3b200400, 0x38000400))
		by = arm64_signed(w, 12, 9);
	else if (is(w, 0xff200400, 0xd9200400))
		by = arm64_signed(w, 12, 9) * 16;
	if (by && rn(w) == SP)
		out->down = -by;
	/* At a register plus another: a switch's table, perhaps, which is not read. */
	if (is(w, 0x3f200c00, 0x38200800) && w & 3u << 22) {
		out->table_load = true;
		out->table_base = INSN_NO_REG;
		out->table_scale = 4;
	}
	/* Literals: the kernel refuses those of general registers, and would step the others. */
	if (is(w, 0x3b000000, 0x18000000))
		out->probeable = false;
	/* Whatever traps between a load and a store that are exclusive makes the store fail. */
	if (is(w, 0x3f800000, 0x08000000)) {
		out->exclusive = out->dear = true;
		out->probeable = false;
	}
	/* cpy, set: in three instructions, which only run one behind the other. */
	if (is(w, 0x3b200c00, 0x19000400)) {
		out->dear = true;
		out->probeable = false;
	}
}

static bool is_dear(uint32_t w)
{
	return is(w, 0x7fe0f800, 0x1ac00800) || /* udiv, sdiv */
	       is(w, 0xff20fc00, 0x1e201800) || /* fdiv */
	       is(w, 0xff3ffc00, 0x1e21c000) || /* fsqrt */
	       is(w, 0xbfa0fc00, 0x2e20fc00) || /* fdiv of vectors */
	       is(w, 0xbfbffc00, 0x2ea1f800) || /* fsqrt of vectors */
	       is(w, 0x3f200c00, 0x38200000) || /* ldadd, swp and the like */
	       is(w, 0x3fa07c00, 0x08a07c00) || /* cas */
	       is(w, 0x1e000000, 0x04000000) || /* SVE: takes as long as vectors are */
	       is(w, 0x9e000000, 0x80000000);	/* SME */
}

bool arm64_decoder__decode(struct insn_decoder *d, const uint8_t *bytes, size_t len,
			   struct insn *out)
{
	uint32_t w;

	if (len < ARM64_INSN_SIZE)
		return false;
	w = arm64_word(bytes);
	*out = (struct insn){.length = ARM64_INSN_SIZE, .site = SITE_STEP, .probeable = true};
	if (!classify_branch(w, out) && !classify_system(w, out)) {
		classify_sum(w, out);
		classify_memory(w, out);
		out->dear |= is_dear(w);
		if (is(w, 0x1f000000, 0x10000000)) /* adr, adrp */
			out->site = SITE_JMP;
	}
	out->site_across = out->site;
	out->probeable &= !(d->spares_calls && out->flow == FLOW_CALL);
	return true;
}
