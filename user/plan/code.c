// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One pass over a function's bytes. The entry block is the straight line from the first instruction
 * to the first branch, or to the first instruction that something else may jump to: what lies in it
 * runs exactly once a call. As targets are only known after the whole function has been read,
 * candidates are collected first and cut afterwards.
 */
#include "plan/code.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/insn.h"
#include "util/array.h"

#define TABLE_REACH 16 /* instructions between a table's load and the jump through it, at most */

struct code_decoder {
	struct insn_decoder *insn;
};

const char *site_class__name(enum site_class c)
{
	static const char *const names[SITE_CLASSES] = {
		[SITE_NOP5] = "nop5", [SITE_NOP] = "nop", [SITE_PUSH] = "push",
		[SITE_JMP] = "jmp",   [SITE_JCC] = "jcc", [SITE_CALL] = "call",
		[SITE_STEP] = "step",
	};

	return names[c];
}

int code_decoder__new(bool nop5_emulated, struct code_decoder **out)
{
	struct code_decoder *d = calloc(1, sizeof(*d));

	if (!d || insn_decoder__new(nop5_emulated, &d->insn)) {
		free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

void code_decoder__free(struct code_decoder *d)
{
	if (d)
		insn_decoder__free(d->insn);
	free(d);
}

/* The state of one code_decode(). */
struct scan {
	const struct code_piece *pieces;
	size_t pieces_cnt;
	struct code *code;
	uint64_t first_target; /* lowest vaddr behind the entry that is jumped to */
	bool in_entry;	       /* still in the straight line from the entry */
	bool only_endbr;       /* nothing but endbr64 so far */
	bool entry_indirect;   /* an indirect jump with unknown targets */
	bool torn_down;	       /* the stack frame has been given back on the way here */
	int64_t delta;	       /* bytes the stack pointer lies below its place at the entry */
	uint32_t since_table;  /* instructions since the last table load */
};

static bool inside(const struct scan *s, uint64_t vaddr)
{
	for (size_t i = 0; i < s->pieces_cnt; i++) {
		if (vaddr - s->pieces[i].vaddr < s->pieces[i].size)
			return true;
	}
	return false;
}

static int add_exit(struct code *code, uint64_t vaddr, enum code_exit_kind kind, uint8_t cond)
{
	if (ARRAY_RESERVE(&code->exits, code->exits_cnt, &code->exits_cap))
		return -ENOMEM;
	code->exits[code->exits_cnt++] = (struct code_exit){vaddr, kind, cond};
	return 0;
}

static void note_site(struct scan *s, const struct insn *in, uint32_t offset)
{
	struct code *code = s->code;

	if (!in->probeable || s->delta < 0 || s->delta > UINT16_MAX)
		return;
	/* A 5-byte nop becomes a call, which writes below the stack pointer: harmless only where
	 * nothing can live there yet. */
	if (in->site == SITE_NOP5 && !s->only_endbr)
		return;
	if (code->sites_cnt < CODE_MAX_SITES)
		code->sites[code->sites_cnt++] =
			(struct code_site){.offset = offset, .delta = s->delta, .site = in->site};
}

/* Follows the stack pointer through the entry block; ends the block where it is lost. */
static void follow_stack(struct scan *s, const struct insn *in)
{
	if (in->stack == STACK_MOVES)
		s->delta += in->down;
	else
		s->in_entry = false;
}

static int scan_branch(struct scan *s, const struct insn *in, uint64_t at)
{
	uint64_t start = s->pieces[0].vaddr, target = at + in->length + in->rel;
	struct code *code = s->code;

	if (inside(s, target)) {
		/* Back to the entry with the frame torn down: the function calls itself anew. */
		if (target == start && s->torn_down)
			code->tail_jumps = true;
		else if (target == start)
			code->loops_to_entry = true;
		else if (target - start < s->pieces[0].size && target < s->first_target)
			s->first_target = target;
		return 0;
	}
	code->leaf = false;
	code->tail_jumps = true;
	if (in->flow == FLOW_JMP)
		return add_exit(code, at, CODE_EXIT_JMP, 0);
	if (!in->is_jcc_opcode) {
		code->no_exits = "leaves by a loop or jrcxz instruction";
		return 0;
	}
	return add_exit(code, at, CODE_EXIT_JCC, in->cond);
}

static int scan_indirect(struct scan *s, const struct insn *in, uint64_t at)
{
	bool table = in->flow == FLOW_JMP_TABLE ||
		     (in->flow == FLOW_JMP_REG && s->since_table <= TABLE_REACH);

	s->code->leaf = false;
	if (table) {
		s->entry_indirect = true;
		return 0;
	}
	s->code->tail_jumps = true;
	if (!in->probeable) {
		s->code->no_exits = "leaves by a jump that cannot be probed";
		return 0;
	}
	return add_exit(s->code, at, CODE_EXIT_JMP, 0);
}

static int scan_flow(struct scan *s, const struct insn *in, uint64_t at)
{
	switch (in->flow) {
	case FLOW_CALL:
		s->code->leaf = false;
		return 0;
	case FLOW_JMP:
	case FLOW_JCC:
		return scan_branch(s, in, at);
	case FLOW_JMP_TAIL:
	case FLOW_JMP_TABLE:
	case FLOW_JMP_REG:
		return scan_indirect(s, in, at);
	case FLOW_RET:
		if (!in->probeable) {
			s->code->no_exits = "has a return that cannot be probed";
			return 0;
		}
		return add_exit(s->code, at, CODE_EXIT_RET, 0);
	default:
		return 0;
	}
}

/* Takes note of epilogues: they end with what gives stack back, then a return or a jump. */
static void follow_epilogue(struct scan *s, const struct insn *in)
{
	if (in->flow == FLOW_NEXT && (in->down < 0 || in->stack == STACK_FRAME))
		s->torn_down = true;
	else if (in->down > 0 || (in->flow != FLOW_NEXT && in->flow != FLOW_JCC))
		s->torn_down = false;
}

/* Whether code may run on behind this instruction. */
static bool goes_on(const struct insn *in)
{
	return in->flow == FLOW_NEXT || in->flow == FLOW_JCC;
}

static int scan_piece(struct scan *s, struct code_decoder *d, const struct code_piece *piece)
{
	bool falls = false, padding = true;
	struct insn in;
	uint32_t at;
	int err = 0;

	for (at = 0; !err && at < piece->size; at += in.length) {
		if (!insn_decode(d->insn, piece->bytes + at, piece->size - at, &in)) {
			s->code->bad = "has bytes that are no instruction";
			return 0;
		}
		if (s->in_entry)
			note_site(s, &in, at);
		s->only_endbr = s->only_endbr && in.endbr;
		s->since_table = in.table_load ? 0 : s->since_table + 1;
		if (in.stack == STACK_UNKNOWN || in.system_call)
			s->code->leaf = false;
		err = scan_flow(s, &in, piece->vaddr + at);
		follow_epilogue(s, &in);
		if (in.flow != FLOW_NEXT)
			s->in_entry = false;
		else if (s->in_entry)
			follow_stack(s, &in);
		padding = in.site == SITE_NOP || in.site == SITE_NOP5;
		if (!padding)
			falls = goes_on(&in);
	}
	if (falls && !s->code->no_exits)
		s->code->no_exits = "runs on into what lies behind it";
	return err;
}

/* Drops the candidates that something may jump to or past. */
static void cut_sites(struct scan *s, uint64_t next_label)
{
	uint64_t start = s->pieces[0].vaddr;
	uint64_t end = s->first_target < next_label ? s->first_target : next_label;
	struct code *code = s->code;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		if (site->offset && start + site->offset >= end)
			break;
		/* Jump tables may lead anywhere, but not into a prologue that saves registers. */
		if (s->entry_indirect && site->offset && site->site != SITE_PUSH &&
		    site->site != SITE_NOP5 && site->site != SITE_STEP)
			continue;
		code->sites[kept++] = *site;
	}
	code->sites_cnt = kept;
}

int code_decode(struct code_decoder *d, const struct code_piece *pieces, size_t pieces_cnt,
		uint64_t next_label, struct code *code)
{
	struct scan s = {
		.pieces = pieces,
		.pieces_cnt = pieces_cnt,
		.code = code,
		.first_target = UINT64_MAX,
		.in_entry = true,
		.only_endbr = true,
		.since_table = TABLE_REACH + 1,
	};
	int err = 0;

	code->sites_cnt = 0;
	code->exits_cnt = 0;
	code->loops_to_entry = code->tail_jumps = false;
	code->leaf = true;
	code->no_exits = code->bad = NULL;
	for (size_t i = 0; !err && i < pieces_cnt; i++) {
		err = scan_piece(&s, d, &pieces[i]);
		s.in_entry = false;
	}
	if (err)
		return err;
	if (code->bad) {
		/* What follows the bad bytes is unknown; so are its targets. */
		code->leaf = false;
		if (code->sites_cnt > 1)
			code->sites_cnt = 1;
		if (code->sites_cnt && code->sites[0].offset)
			code->sites_cnt = 0;
	}
	if (!code->exits_cnt && !code->no_exits && !code->bad)
		code->no_exits = "never leaves by a return or a jump";
	cut_sites(&s, next_label);
	return 0;
}
