// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A block is followed instruction by instruction until control does not run on, or to where it was
 * followed before. Where its branches and tables lead is put on a list of what is still to follow.
 */
#include "code/code_scan.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "arch/operands.h"
#include "util/array.h"

#define CALLEE_BYTES 64 /* of a function's begin */

/* The piece that holds `vaddr`, or NULL; *at is the place of its byte in d->reached. */
static const struct code_piece *piece_of(const struct code_scan *s, uint64_t vaddr, size_t *at)
{
	size_t before = 0;

	for (size_t i = 0; i < s->pieces_cnt; i++) {
		const struct code_piece *piece = &s->pieces[i];

		if (vaddr - piece->vaddr < piece->size) {
			*at = before + (vaddr - piece->vaddr);
			return piece;
		}
		before += piece->size;
	}
	return NULL;
}

/* Whether the function has a byte at `vaddr`. */
static bool has_byte(const struct code_scan *s, uint64_t vaddr)
{
	size_t at;

	return piece_of(s, vaddr, &at) != NULL;
}

static int add_exit(struct code *code, uint64_t vaddr, enum code_exit_kind kind,
		    const struct insn *in, uint64_t target)
{
	if (ARRAY_RESERVE(&code->exits, code->exits_cnt, &code->exits_cap))
		return -ENOMEM;
	code->exits[code->exits_cnt++] = (struct code_exit){
		.vaddr = vaddr,
		.kind = kind,
		.cond = kind == CODE_EXIT_JCC ? in->cond : 0,
		.steps = in->site == SITE_STEP,
		.plain = kind == CODE_EXIT_RET && in->near_return,
		.target = target,
	};
	return 0;
}

static int add_call(struct code_scan *s, uint64_t end, uint64_t target, enum code_call_kind kind)
{
	struct code *code = s->code;

	if (ARRAY_RESERVE(&code->calls, code->calls_cnt, &code->calls_cap))
		return -ENOMEM;
	code->calls[code->calls_cnt++] = (struct code_call){end, target, kind, s->in_pad};
	return 0;
}

void code_scan__lose_track(struct code_scan *s)
{
	s->code->leaf = s->code->followed = false;
}

void code_scan__note_target(struct code_scan *s, uint64_t vaddr)
{
	uint64_t start = s->pieces[0].vaddr;

	if (vaddr > start && vaddr - start < s->pieces[0].size && vaddr < s->first_target)
		s->first_target = vaddr;
}

/* Notes that the present instruction may jump to `vaddr`, inside the function. */
static int note_edge(struct code_scan *s, uint64_t vaddr)
{
	struct code_decoder *d = s->d;

	code_scan__note_target(s, vaddr);
	if (!d->notes_edges)
		return 0;
	if (ARRAY_RESERVE(&d->edges, d->edges_cnt, &d->edges_cap))
		return -ENOMEM;
	d->edges[d->edges_cnt++] = (struct code_edge){s->vaddr, vaddr};
	return 0;
}

/* Notes that control does not run on behind `vaddr`. */
static int note_stop(const struct code_scan *s, uint64_t vaddr)
{
	struct code_decoder *d = s->d;

	if (!d->notes_edges)
		return 0;
	if (ARRAY_RESERVE(&d->stops, d->stops_cnt, &d->stops_cap))
		return -ENOMEM;
	d->stops[d->stops_cnt++] = vaddr;
	return 0;
}

int code_scan__follow_later(struct code_scan *s, uint64_t vaddr, uint32_t limit)
{
	struct code_decoder *d = s->d;
	size_t at;

	if (!piece_of(s, vaddr, &at) || (d->reached[at] && d->reached[at] != CODE_INSIDE))
		return 0;
	if (ARRAY_RESERVE(&d->work, d->work_cnt, &d->work_cap))
		return -ENOMEM;
	d->work[d->work_cnt++] = (struct code_work){vaddr, limit};
	return 0;
}

/* Takes note of epilogues: they end with what gives stack back, then a return or a jump. */
static void follow_epilogue(struct code_scan *s, const struct insn *in)
{
	if (in->flow == FLOW_NEXT && (in->down < 0 || in->stack == STACK_FRAME))
		s->torn_down = true;
	else if (in->down > 0 || (in->flow != FLOW_NEXT && in->flow != FLOW_JCC))
		s->torn_down = false;
}

/* A jump_target: has it followed, if it is the function's. */
static int take_target(void *ctx, uint64_t target)
{
	struct code_scan *s = ctx;
	int err;

	if (!has_byte(s, target))
		return -ERANGE;
	err = note_edge(s, target);
	return err ? err : code_scan__follow_later(s, target, 0);
}

static int scan_branch(struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	uint64_t target = vaddr + in->length + in->rel;
	struct code *code = s->code;
	int err;

	if (has_byte(s, target)) {
		code->loops |= target <= vaddr;
		/* Back to the entry with the frame torn down: the function calls itself anew. */
		if (target == s->pieces[0].vaddr && s->torn_down)
			code->tail_jumps = true;
		else if (target == s->pieces[0].vaddr)
			code->loops_to_entry++;
		err = note_edge(s, target);
		return err ? err : code_scan__follow_later(s, target, s->tables.bound.limit_taken);
	}
	code->leaf = false;
	code->tail_jumps = true;
	err = add_call(s, 0, target, CODE_CALL_DIRECT);
	if (err)
		return err;
	if (in->flow == FLOW_JMP)
		return add_exit(code, vaddr, CODE_EXIT_JMP, in, target);
	if (!in->is_jcc_opcode) {
		code->no_exits = "leaves by a branch whose condition is in no flag";
		return 0;
	}
	if (s->exclusive) {
		code->no_exits = "leaves amid exclusive accesses to memory";
		return 0;
	}
	return add_exit(code, vaddr, CODE_EXIT_JCC, in, target);
}

static int scan_indirect(struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	struct jump_table table;
	int entries, err;

	s->code->leaf = false;
	if (jump_tables__used_by(&s->tables, in, &table)) {
		s->code->followed = false; /* is the table as long as it seems? */
		entries = jump_tables__follow(&s->tables, &table, s->d->read, s->d->read_ctx,
					      take_target, s);
		s->unread_table |= entries == 0;
		/* Once the frame is gone, a tail call through an array of functions is likelier
		 * than a switch. An exit probe does no harm if it is a switch after all: a jump is
		 * an exit only if the stack pointer is at the slot. */
		if (entries || in->flow != FLOW_JMP_REG || !s->torn_down) {
			s->code->exits_missing |= entries == 0;
			return entries < 0 ? entries : 0;
		}
	}
	s->code->tail_jumps = true;
	s->left_indirectly = true;
	s->left_framed |= !s->torn_down && !(s->entry.open && !s->entry.delta);
	err = add_call(s, 0, vaddr + in->length + in->slot,
		       in->by_slot ? CODE_CALL_SLOT : CODE_CALL_UNKNOWN);
	if (err)
		return err;
	if (!in->probeable) {
		s->code->no_exits = "leaves by a jump that cannot be probed";
		return 0;
	}
	return add_exit(s->code, vaddr, CODE_EXIT_JMP, in, 0);
}

/* The register that takes the return address from the stack by this instruction, a function's
 * first; *off: it is no longer there. OPERAND_NO_REGISTER: none. */
static int address_taken(const struct operands *in, bool *off)
{
	const struct operand *from = &in->items[1];

	*off = in->operation == OPERATION_POP;
	if (in->cnt < 2 || in->items[0].kind != OPERAND_REGISTER)
		return OPERAND_NO_REGISTER;
	if (*off || ((in->operation == OPERATION_MOV || in->operation == OPERATION_XCHG) &&
		     from->kind == OPERAND_MEMORY && from->base == OPERAND_STACK_POINTER &&
		     !from->indexed && !from->value))
		return in->items[0].reg;
	return OPERAND_NO_REGISTER;
}

static bool reads_at(const struct operands *in, int reg)
{
	for (int i = 0; i < in->cnt; i++) {
		if (in->items[i].kind == OPERAND_MEMORY && in->items[i].base == reg &&
		    in->items[i].reads && !in->items[i].address_only)
			return true;
	}
	return false;
}

/*
 * Whether what begins with these bytes takes its return address at once, and for the address of
 * data, as in
 *
 *	call print; .asciz "text"; ...		print: pop %rdi; call puts; ... jmp *%rdi
 *
 * and not as getcontext does, which keeps it, or who has to go back by it later.
 */
static bool takes_data(const struct arch *arch, const uint8_t *bytes, size_t size)
{
	int reg = OPERAND_NO_REGISTER;
	struct operands in;
	bool off = false;

	for (size_t at = 0; at < size; at += in.length) {
		if (!arch->operands(bytes + at, size - at, &in))
			return off;
		if (in.operation == OPERATION_LANDING && !at)
			continue;
		if (reg == OPERAND_NO_REGISTER) {
			reg = address_taken(&in, &off);
			if (reg == OPERAND_NO_REGISTER)
				return false;
		} else if (reads_at(&in, reg)) {
			return true;
		} else if (in.flow == OPERAND_FLOW_CALL) {
			return off;
		} else if (in.flow == OPERAND_FLOW_RETURN || in.flow == OPERAND_FLOW_JUMP) {
			return false;
		}
	}
	return off;
}

static bool begins_with_address(const struct code_scan *s, uint64_t vaddr)
{
	const struct arch *arch = s->d->arch;
	uint8_t bytes[CALLEE_BYTES];

	/* Elsewhere it is in a register. */
	if (!arch->dwarf.entered)
		return false;
	for (size_t size = sizeof(bytes); size >= 8; size /= 2) {
		if (s->d->read(s->d->read_ctx, vaddr, bytes, size))
			return takes_data(arch, bytes, size);
	}
	return false;
}

static bool takes_address(const struct code_scan *s, uint64_t vaddr)
{
	struct callee *c = &s->d->callees[vaddr / 16 % CODE_CALLEES];

	if (c->vaddr != vaddr)
		*c = (struct callee){vaddr, s->d->read && begins_with_address(s, vaddr)};
	return c->takes_address;
}

static int scan_call(struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	uint64_t end = vaddr + in->length;

	s->code->leaf = false;
	/* A call of its own middle takes the address of what lies behind: data, perhaps. */
	if (in->rel && end + in->rel != s->pieces[0].vaddr && has_byte(s, end + in->rel))
		s->code->bad = "calls its own middle";
	else if (in->rel && takes_address(s, end + in->rel))
		s->code->bad = "calls what takes its return address: data may follow the call";
	if (in->by_slot)
		return add_call(s, end, end + in->slot, CODE_CALL_SLOT);
	return add_call(s, end, end + in->rel, in->rel ? CODE_CALL_DIRECT : CODE_CALL_UNKNOWN);
}

static int scan_flow(struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	switch (in->flow) {
	case FLOW_STOP:
		s->code->traps = true;
		return 0;
	case FLOW_CALL:
		return scan_call(s, in, vaddr);
	case FLOW_JMP:
	case FLOW_JCC:
		return scan_branch(s, in, vaddr);
	case FLOW_JMP_TAIL:
	case FLOW_JMP_TABLE:
	case FLOW_JMP_REG:
		return scan_indirect(s, in, vaddr);
	case FLOW_RET:
		/* A jump in disguise. */
		if (s->pushed || in->far_return)
			code_scan__lose_track(s);
		if (!in->probeable || in->far_return) {
			s->code->no_exits = "has a return that cannot be probed";
			return 0;
		}
		return add_exit(s->code, vaddr, CODE_EXIT_RET, in, 0);
	default:
		return 0;
	}
}

/* Whether code runs on behind this instruction; behind a call it does, unless that never returns.
 */
static bool runs_on(const struct insn *in)
{
	return in->flow == FLOW_NEXT || in->flow == FLOW_JCC || in->flow == FLOW_CALL;
}

/*
 * Marks an instruction's bytes. Returns false if another reading of them is there already: not both
 * can be trusted. Only an instruction and its locked form may share bytes, for libc jumps over lock
 * prefixes.
 */
static bool mark_reached(uint8_t *reached, const uint8_t *bytes, uint32_t offset, uint8_t length)
{
	bool locked = bytes[0] == 0xf0;
	bool behind_lock = offset && bytes[-1] == 0xf0 && reached[-1] == length + 1;
	bool lock_passed = locked && reached[1] == length - 1;

	if (!behind_lock && !lock_passed) {
		for (uint8_t i = 1; i < length; i++) {
			if (reached[i])
				return false;
		}
		/* The byte behind a lock prefix stays free to be followed. */
		for (uint8_t i = 1 + locked; i < length; i++)
			reached[i] = CODE_INSIDE;
	}
	reached[0] = length;
	return true;
}

/* Whether it is the jump that instrumentation has put there; what it leads to is the entry block
 * still, where the red zone is as free as before. */
static bool is_passed_jump(const struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	return vaddr == s->pieces[0].passed && in->flow == FLOW_JMP && in->rel > 0 &&
	       s->entry.open && has_byte(s, vaddr + in->length + in->rel);
}

static bool is_jump_out(const struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	return in->flow == FLOW_JMP && !has_byte(s, vaddr + in->length + in->rel);
}

/* Takes note of what an instruction does. */
static int pass(struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	int err;

	if (s->entry.open)
		entry_sites__note(&s->entry, in, vaddr, is_jump_out(s, in, vaddr));
	entry_sites__pass(&s->entry, in);
	if (in->stack == STACK_UNKNOWN || in->system_call)
		code_scan__lose_track(s);
	jump_tables__pass(&s->tables, in, vaddr);
	err = scan_flow(s, in, vaddr);
	if (err)
		return err;
	follow_epilogue(s, in);
	s->pushed = in->down > 0;
	if (in->flow != FLOW_NEXT && !(in->flow == FLOW_CALL && vaddr == s->pieces[0].passed))
		s->entry.open = false;
	else if (s->entry.open)
		entry_sites__follow_stack(&s->entry, in);
	return 0;
}

int code_scan__follow(struct code_scan *s, struct code_work work)
{
	uint64_t vaddr = work.vaddr;
	const struct code_piece *piece;
	bool ends = false; /* nothing but nops since what may be the end: a call, a fault */
	struct insn in;
	size_t at;
	int err;

	s->torn_down = s->pushed = false;
	jump_tables__begin(&s->tables, work.limit);
	while ((piece = piece_of(s, vaddr, &at)) && !s->d->reached[at]) {
		uint32_t offset = vaddr - piece->vaddr;

		/* Running on into a cold piece that lies right behind: what jumps to places there
		 * is not looked at. */
		s->entry.open = s->entry.open && piece == s->pieces;
		if (!insn_decode(s->d->insn, piece->bytes + offset, piece->size - offset, &in)) {
			s->code->bad = "runs into bytes that are no instruction";
			return 0;
		}
		if (!mark_reached(s->d->reached + at, piece->bytes + offset, offset, in.length)) {
			s->code->bad = "has instructions that overlap";
			return 0;
		}
		s->vaddr = vaddr;
		s->framed |= in.down > 0;
		s->exclusive |= in.exclusive;
		s->entry.open &= !in.exclusive;
		s->code->insns++;
		s->code->dear |= in.dear;
		if (is_passed_jump(s, &in, vaddr)) {
			vaddr += in.length + in.rel;
			continue;
		}
		err = pass(s, &in, vaddr);
		if (err)
			return err;
		if (!runs_on(&in))
			return note_stop(s, vaddr);
		ends = in.flow == FLOW_CALL || in.faults ||
		       (ends && (in.is_nop || in.site == SITE_NOP));
		vaddr += in.length;
	}
	if (piece && s->d->reached[at] == CODE_INSIDE)
		s->code->bad = "runs into the middle of an instruction";
	/* A call at the very end is one that never returns; Go puts a nop behind it. And a program
	 * that wants to crash writes to the first page (haproxy's ABORT_NOW()). */
	if (!piece && !ends) {
		code_scan__lose_track(s);
		if (!s->code->no_exits)
			s->code->no_exits = "runs on into what lies behind it";
	}
	return 0;
}
