// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function is followed from its entry along all branches, jump tables included. Bytes that no
 * flow reaches may be data, so nothing in them is ever probed; they may also be landing pads of
 * exceptions or cases of a table that could not be read, so their branches are still looked at
 * before an instruction is taken for one that runs once.
 *
 * The entry block is the straight line from the first instruction to the first branch, or to the
 * first instruction that something else may jump to: what lies in it runs exactly once a call. As
 * targets are only known after the whole function has been read, candidates are collected first and
 * cut afterwards.
 */
#include "plan/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/insn.h"
#include "util/array.h"

#define TABLE_REACH   16 /* instructions between a table's load and the jump through it, at most */
#define COMPARE_REACH 4	 /* the same between a comparison and the branch that uses it */
#define BOUND_REACH   32 /* ... and between that branch and the jump through the table */
#define TABLE_ENTRIES (1 << 14) /* of one jump table, at most */
#define TABLE_CHUNK   64	/* entries read at once */

#define PAGE_SIZE 4096

/* Code that something jumps to. */
struct work {
	uint64_t vaddr;
	uint32_t limit; /* as in struct bound: what the jump has found out */
};

struct code_decoder {
	struct insn_decoder *insn;
	code_reader read;
	void *read_ctx;
	uint8_t *reached; /* a byte of the pieces: length of the instruction that begins there */
	size_t reached_cap;
	struct work *work; /* still to follow */
	size_t work_cnt, work_cap;
	bool notes_edges;
	struct code_edge *edges;
	size_t edges_cnt, edges_cap;
	bool certain; /* as in struct code_flow */
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

unsigned code_site__rank(const struct code_site *site)
{
	enum { CALLS, CHEAP, STORES, STEPS };
	static const uint8_t ranks[SITE_CLASSES] = {
		[SITE_NOP5] = CALLS, [SITE_NOP] = CHEAP,   [SITE_PUSH] = STORES, [SITE_JMP] = CHEAP,
		[SITE_JCC] = CHEAP,  [SITE_CALL] = STORES, [SITE_STEP] = STEPS,
	};

	return ranks[site->site];
}

int code_decoder__new(bool nop5_emulated, code_reader read, void *read_ctx,
		      struct code_decoder **out)
{
	struct code_decoder *d = calloc(1, sizeof(*d));

	if (!d || insn_decoder__new(nop5_emulated, &d->insn)) {
		free(d);
		return -ENOMEM;
	}
	d->read = read;
	d->read_ctx = read_ctx;
	*out = d;
	return 0;
}

void code_decoder__free(struct code_decoder *d)
{
	if (!d)
		return;
	insn_decoder__free(d->insn);
	free(d->reached);
	free(d->work);
	free(d->edges);
	free(d);
}

/* A jump table that is about to be used. */
struct table {
	uint64_t vaddr;
	uint8_t entry_size; /* 4: offsets from the table; 8: addresses */
	uint32_t age;	    /* instructions since its load */
};

/* What is known of the value that a table is indexed with: it was compared and found below `limit`.
 */
struct bound {
	int64_t constant; /* of the last comparison */
	uint32_t compare_age;
	uint32_t limit; /* 0: none */
	uint32_t limit_age;
	uint32_t limit_taken; /* the same where the last branch leads */
};

/* The state of one code_decode(). */
struct scan {
	struct code_decoder *d;
	const struct code_piece *pieces;
	size_t pieces_cnt;
	struct code *code;
	uint64_t first_target; /* lowest vaddr behind the entry that is jumped to */
	bool in_entry;	       /* still in the straight line from the entry */
	bool only_nops;	       /* nothing but endbr64 and nops so far */
	uint8_t work;	       /* as in struct code_site */
	bool unread_table;     /* an indirect jump whose targets are not known */
	bool in_pad;	       /* what is followed is a landing pad's */
	bool pushed;	       /* the last instruction pushed something */
	bool torn_down;	       /* the stack frame has been given back on the way here */
	bool framed;	       /* some instruction takes stack */
	bool left_indirectly;  /* by a jump that may lead anywhere, unless that is a callee's */
	bool left_framed;      /* the same, and nothing says that the frame is gone */
	bool has_rest;	       /* there are bytes that may be code which nothing leads to */
	int64_t delta;	       /* bytes the stack pointer lies below its place at the entry */
	uint64_t vaddr;	       /* of the instruction that is looked at */
	struct table table;
	struct bound bound;
	uint64_t lea[16]; /* last address loaded into each register; 0: none */
	bool scaled[16];  /* it was loaded with another one times 4, since */
};

/* The piece that holds `vaddr`, or NULL; *at is the place of its byte in d->reached. */
static const struct code_piece *piece_of(const struct scan *s, uint64_t vaddr, size_t *at)
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

static bool inside(const struct scan *s, uint64_t vaddr)
{
	size_t at;

	return piece_of(s, vaddr, &at) != NULL;
}

static int add_exit(struct code *code, uint64_t vaddr, enum code_exit_kind kind,
		    const struct insn *in)
{
	if (ARRAY_RESERVE(&code->exits, code->exits_cnt, &code->exits_cap))
		return -ENOMEM;
	code->exits[code->exits_cnt++] = (struct code_exit){
		.vaddr = vaddr,
		.kind = kind,
		.cond = kind == CODE_EXIT_JCC ? in->cond : 0,
		.steps = in->site == SITE_STEP,
	};
	return 0;
}

static int add_call(struct scan *s, uint64_t end, uint64_t target, enum code_call_kind kind)
{
	struct code *code = s->code;

	if (ARRAY_RESERVE(&code->calls, code->calls_cnt, &code->calls_cap))
		return -ENOMEM;
	code->calls[code->calls_cnt++] = (struct code_call){end, target, kind, s->in_pad};
	return 0;
}

/* The function does what cannot be followed. */
static void lose_track(struct scan *s)
{
	s->code->leaf = s->code->followed = false;
}

/* Notes that something jumps to `vaddr`, which lies inside the function. */
static void note_target(struct scan *s, uint64_t vaddr)
{
	uint64_t start = s->pieces[0].vaddr;

	if (vaddr > start && vaddr - start < s->pieces[0].size && vaddr < s->first_target)
		s->first_target = vaddr;
}

/* Notes that the present instruction may jump to `vaddr`, inside the function. */
static int note_edge(struct scan *s, uint64_t vaddr)
{
	struct code_decoder *d = s->d;

	note_target(s, vaddr);
	if (!d->notes_edges)
		return 0;
	if (ARRAY_RESERVE(&d->edges, d->edges_cnt, &d->edges_cap))
		return -ENOMEM;
	d->edges[d->edges_cnt++] = (struct code_edge){s->vaddr, vaddr};
	return 0;
}

/* Has the code at `vaddr` followed later. */
static int follow_later(struct scan *s, uint64_t vaddr, uint32_t limit)
{
	struct code_decoder *d = s->d;
	size_t at;

	if (!piece_of(s, vaddr, &at) || (d->reached[at] && d->reached[at] != CODE_INSIDE))
		return 0;
	if (ARRAY_RESERVE(&d->work, d->work_cnt, &d->work_cap))
		return -ENOMEM;
	d->work[d->work_cnt++] = (struct work){vaddr, limit};
	return 0;
}

/* Whether an instruction of five bytes at `vaddr` lies across two pages, in memory as in the file.
 */
static bool across_pages(uint64_t vaddr)
{
	return vaddr % PAGE_SIZE > PAGE_SIZE - 5;
}

static void note_site(struct scan *s, const struct insn *in, uint64_t vaddr)
{
	bool leaves = in->flow == FLOW_JMP && !inside(s, vaddr + in->length + in->rel);
	bool across = across_pages(vaddr);
	struct code *code = s->code;

	if (!in->probeable || s->delta < 0 || s->delta > UINT16_MAX)
		return;
	/* A call writes below the stack pointer: harmless only where nothing can live there, yet or
	 * any more. */
	if (in->may_become_call && !across && !s->only_nops && !leaves)
		return;
	if (code->sites_cnt < CODE_MAX_SITES)
		code->sites[code->sites_cnt++] = (struct code_site){
			.offset = vaddr - s->pieces[0].vaddr,
			.delta = s->delta,
			.site = across ? in->site_across : in->site,
			.work = s->work,
		};
}

/* Takes note of what runs before the sites to come. */
static void follow_work(struct scan *s, const struct insn *in)
{
	bool nop = in->endbr || in->is_nop || in->site == SITE_NOP || in->site == SITE_NOP5;

	s->only_nops = s->only_nops && nop;
	if (!nop && in->site != SITE_PUSH && s->work < UINT8_MAX)
		s->work++;
}

/* Follows the stack pointer through the entry block; ends the block where it is lost. */
static void follow_stack(struct scan *s, const struct insn *in)
{
	if (in->stack == STACK_MOVES)
		s->delta += in->down;
	else
		s->in_entry = false;
}

/* Takes note of epilogues: they end with what gives stack back, then a return or a jump. */
static void follow_epilogue(struct scan *s, const struct insn *in)
{
	if (in->flow == FLOW_NEXT && (in->down < 0 || in->stack == STACK_FRAME))
		s->torn_down = true;
	else if (in->down > 0 || (in->flow != FLOW_NEXT && in->flow != FLOW_JCC))
		s->torn_down = false;
}

/* Where the table of this operand lies, or 0. */
static uint64_t table_vaddr(const struct scan *s, const struct insn *in)
{
	if (in->table_base == INSN_NO_REG)
		return (uint32_t)in->table_disp;
	return s->lea[in->table_base] ? s->lea[in->table_base] + in->table_disp : 0;
}

/* Takes note of what a jump through a table needs: the table's address, and its use. */
static void follow_tables(struct scan *s, const struct insn *in, uint64_t vaddr)
{
	s->table.age++;
	if (in->lea_rip || in->lea_scaled) {
		s->lea[in->lea_reg] = in->lea_rip ? vaddr + in->length + in->rel : 0;
		s->scaled[in->lea_reg] = in->lea_scaled;
	}
	if (in->table_load)
		s->table = (struct table){table_vaddr(s, in), in->table_scale, 0};
	if (in->sum_load && s->scaled[in->sum_regs[0]] != s->scaled[in->sum_regs[1]])
		s->table = (struct table){s->lea[in->sum_regs[s->scaled[in->sum_regs[0]]]], 4, 0};
}

/* Takes note of the range checks before switches: cmp $N; ja (or jae) default; or the other way
 * round, jbe (or jb) to the switch. */
static void follow_bounds(struct scan *s, const struct insn *in)
{
	struct bound *b = &s->bound;
	uint32_t limit;

	b->compare_age++;
	b->limit_age++;
	b->limit_taken = 0;
	if (in->compares) {
		b->constant = in->constant;
		b->compare_age = 0;
		return;
	}
	if (in->flow != FLOW_JCC || b->compare_age > COMPARE_REACH || b->constant < 0 ||
	    b->constant >= TABLE_ENTRIES)
		return;
	limit = b->constant + (in->cond == 7 || in->cond == 6);
	if (in->cond == 7 || in->cond == 3) {
		b->limit = limit;
		b->limit_age = 0;
	} else if (in->cond == 6 || in->cond == 2) {
		b->limit_taken = limit;
	}
}

/* Follows the entries of a jump table, as many as the range check before it allows. Returns how
 * many, 0 if it cannot be read (then nothing is known of where it leads), or -ENOMEM. */
static int follow_table(struct scan *s, const struct table *table)
{
	uint32_t limit = s->bound.limit_age <= BOUND_REACH ? s->bound.limit : 0;
	uint8_t buf[TABLE_CHUNK * 8];
	int err;

	if (!table->vaddr || !s->d->read)
		return 0;
	for (uint32_t i = 0; i < limit; i++) {
		uint32_t in_chunk = i % TABLE_CHUNK;
		uint32_t chunk = limit - i < TABLE_CHUNK ? limit - i : TABLE_CHUNK;
		uint64_t target;
		int32_t offset;

		if (!in_chunk &&
		    !s->d->read(s->d->read_ctx, table->vaddr + (uint64_t)i * table->entry_size, buf,
				chunk * table->entry_size))
			return 0;
		if (table->entry_size == 8) {
			memcpy(&target, buf + in_chunk * 8, sizeof(target));
		} else {
			memcpy(&offset, buf + in_chunk * 4, sizeof(offset));
			target = table->vaddr + offset;
		}
		if (!inside(s, target))
			return 0;
		err = note_edge(s, target);
		if (!err)
			err = follow_later(s, target, 0);
		if (err)
			return err;
	}
	return limit;
}

static int scan_branch(struct scan *s, const struct insn *in, uint64_t vaddr)
{
	uint64_t target = vaddr + in->length + in->rel;
	struct code *code = s->code;
	int err;

	if (inside(s, target)) {
		code->loops |= target <= vaddr;
		/* Back to the entry with the frame torn down: the function calls itself anew. */
		if (target == s->pieces[0].vaddr && s->torn_down)
			code->tail_jumps = true;
		else if (target == s->pieces[0].vaddr)
			code->loops_to_entry++;
		err = note_edge(s, target);
		return err ? err : follow_later(s, target, s->bound.limit_taken);
	}
	code->leaf = false;
	code->tail_jumps = true;
	err = add_call(s, 0, target, CODE_CALL_DIRECT);
	if (err)
		return err;
	if (in->flow == FLOW_JMP)
		return add_exit(code, vaddr, CODE_EXIT_JMP, in);
	if (!in->is_jcc_opcode) {
		code->no_exits = "leaves by a loop or jrcxz instruction";
		return 0;
	}
	return add_exit(code, vaddr, CODE_EXIT_JCC, in);
}

static int scan_indirect(struct scan *s, const struct insn *in, uint64_t vaddr)
{
	struct table direct = {table_vaddr(s, in), in->table_scale, 0};
	bool uses_load = in->flow == FLOW_JMP_REG && s->table.age <= TABLE_REACH;
	int entries, err;

	s->code->leaf = false;
	if (in->flow == FLOW_JMP_TABLE || uses_load) {
		s->code->followed = false; /* is the table as long as it seems? */
		entries = follow_table(s, in->table_scale ? &direct : &s->table);
		s->unread_table |= entries == 0;
		/* Where the frame is gone, an array of functions is likelier. In a switch the probe
		 * would do no harm: unless the stack pointer is at the slot, it is no leave. */
		if (entries || in->flow != FLOW_JMP_REG || !s->torn_down) {
			s->code->exits_missing |= entries == 0;
			return entries < 0 ? entries : 0;
		}
	}
	s->code->tail_jumps = true;
	s->left_indirectly = true;
	s->left_framed |= !s->torn_down && !(s->in_entry && !s->delta);
	err = add_call(s, 0, vaddr + in->length + in->slot,
		       in->by_slot ? CODE_CALL_SLOT : CODE_CALL_UNKNOWN);
	if (err)
		return err;
	if (!in->probeable) {
		s->code->no_exits = "leaves by a jump that cannot be probed";
		return 0;
	}
	return add_exit(s->code, vaddr, CODE_EXIT_JMP, in);
}

static int scan_call(struct scan *s, const struct insn *in, uint64_t vaddr)
{
	uint64_t end = vaddr + in->length;

	s->code->leaf = false;
	/* A call of its own middle takes the address of what lies behind: data, perhaps. */
	if (in->rel && end + in->rel != s->pieces[0].vaddr && inside(s, end + in->rel))
		s->code->bad = "calls its own middle";
	if (in->by_slot)
		return add_call(s, end, end + in->slot, CODE_CALL_SLOT);
	return add_call(s, end, end + in->rel, in->rel ? CODE_CALL_DIRECT : CODE_CALL_UNKNOWN);
}

static int scan_flow(struct scan *s, const struct insn *in, uint64_t vaddr)
{
	switch (in->flow) {
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
			lose_track(s);
		if (!in->probeable || in->far_return) {
			s->code->no_exits = "has a return that cannot be probed";
			return 0;
		}
		return add_exit(s->code, vaddr, CODE_EXIT_RET, in);
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
static bool is_passed_jump(const struct scan *s, const struct insn *in, uint64_t vaddr)
{
	return vaddr == s->pieces[0].passed && in->flow == FLOW_JMP && in->rel > 0 && s->in_entry &&
	       inside(s, vaddr + in->length + in->rel);
}

/* Follows the code at `vaddr` until it does not run on, or to where it was followed before. */
static int scan_block(struct scan *s, struct work work)
{
	uint64_t vaddr = work.vaddr;
	const struct code_piece *piece;
	bool called = false; /* nothing but nops since a call */
	struct insn in;
	size_t at;
	int err;

	s->torn_down = s->pushed = false;
	s->table.age = TABLE_REACH + 1;
	s->bound.compare_age = COMPARE_REACH + 1;
	s->bound.limit = work.limit;
	s->bound.limit_age = 0;
	while ((piece = piece_of(s, vaddr, &at)) && !s->d->reached[at]) {
		uint32_t offset = vaddr - piece->vaddr;

		/* Running on into a cold piece that lies right behind: what jumps to places there
		 * is not looked at. */
		s->in_entry = s->in_entry && piece == s->pieces;
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
		s->code->insns++;
		s->code->dear |= in.dear;
		if (is_passed_jump(s, &in, vaddr)) {
			vaddr += in.length + in.rel;
			continue;
		}
		if (s->in_entry)
			note_site(s, &in, vaddr);
		follow_work(s, &in);
		if (in.stack == STACK_UNKNOWN || in.system_call)
			lose_track(s);
		follow_tables(s, &in, vaddr);
		follow_bounds(s, &in);
		err = scan_flow(s, &in, vaddr);
		if (err)
			return err;
		follow_epilogue(s, &in);
		s->pushed = in.down > 0;
		if (in.flow != FLOW_NEXT && !(in.flow == FLOW_CALL && vaddr == s->pieces[0].passed))
			s->in_entry = false;
		else if (s->in_entry)
			follow_stack(s, &in);
		if (!runs_on(&in))
			return 0;
		called = in.flow == FLOW_CALL || (called && (in.is_nop || in.site == SITE_NOP));
		vaddr += in.length;
	}
	if (piece && s->d->reached[at] == CODE_INSIDE)
		s->code->bad = "runs into the middle of an instruction";
	/* A call at the very end is one that never returns; Go puts a nop behind it. */
	if (!piece && !called) {
		lose_track(s);
		if (!s->code->no_exits)
			s->code->no_exits = "runs on into what lies behind it";
	}
	return 0;
}

static int scan_work(struct scan *s)
{
	struct code_decoder *d = s->d;
	int err = 0;

	while (!err && d->work_cnt)
		err = scan_block(s, d->work[--d->work_cnt]);
	return err;
}

/* Follows what runs when an exception has been caught, and nothing else does. */
static int scan_pads(struct scan *s)
{
	int err = 0;

	s->in_pad = true;
	for (size_t i = 0; i < s->pieces_cnt; i++) {
		for (size_t k = 0; !err && k < s->pieces[i].pads_cnt; k++) {
			note_target(s, s->pieces[i].pads[k]);
			err = follow_later(s, s->pieces[i].pads[k], 0);
		}
	}
	return err ? err : scan_work(s);
}

/*
 * What no flow has reached: padding, data, landing pads, or cases of an unread table. Nothing there
 * is probed, but it is assumed to be code for the worst that it could do to the entry block.
 */
static void scan_rest(struct scan *s, const struct code_piece *piece, const uint8_t *reached)
{
	struct insn in;
	uint32_t at = 0;

	while (at < piece->size) {
		if (reached[at]) {
			at++;
			continue;
		}
		if (!insn_decode(s->d->insn, piece->bytes + at, piece->size - at, &in)) {
			s->code->leaf = false;
			s->has_rest = true;
			at++;
			continue;
		}
		if (in.site != SITE_NOP && in.site != SITE_NOP5 && in.flow != FLOW_STOP &&
		    !in.is_nop) {
			s->code->leaf = false;
			s->has_rest = true;
		}
		if (in.flow == FLOW_JMP || in.flow == FLOW_JCC)
			note_target(s, piece->vaddr + at + in.length + in.rel);
		at += in.length;
	}
}

/* Drops the candidates that something may jump to or past. */
static void cut_sites(struct scan *s, uint64_t next_label)
{
	uint64_t start = s->pieces[0].vaddr;
	struct code *code = s->code;
	uint32_t kept = 0;

	code->block_end = s->first_target < next_label ? s->first_target : next_label;
	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		if (site->offset && start + site->offset >= code->block_end)
			break;
		/* The red zone may be in use when the function's code jumps back there. */
		if (site->site == SITE_NOP5 && code->loops_to_entry)
			continue;
		/* An unread table may lead anywhere, but not into a prologue that saves registers.
		 */
		if (s->unread_table && site->offset && site->site != SITE_PUSH &&
		    site->site != SITE_NOP5 && site->site != SITE_STEP)
			continue;
		code->sites[kept++] = *site;
	}
	code->sites_cnt = kept;
}

static int reached_clear(struct code_decoder *d, const struct code_piece *pieces, size_t cnt)
{
	size_t size = 0;

	for (size_t i = 0; i < cnt; i++)
		size += pieces[i].size;
	if (size > d->reached_cap) {
		uint8_t *grown = realloc(d->reached, size * 2);

		if (!grown)
			return -ENOMEM;
		d->reached = grown;
		d->reached_cap = size * 2;
	}
	memset(d->reached, 0, size);
	d->work_cnt = d->edges_cnt = 0;
	return 0;
}

/* A jump through a register or memory is a callee's call, or leads to a label whose address was
 * taken: that is a frame's work, or such labels would be what nothing else leads to. */
static bool flow_is_certain(const struct scan *s)
{
	if (s->code->bad || s->unread_table)
		return false;
	return !(s->left_framed && s->framed) && !(s->left_indirectly && s->has_rest);
}

int code_decode(struct code_decoder *d, const struct code_piece *pieces, size_t pieces_cnt,
		uint64_t next_label, struct code *code)
{
	struct scan s = {
		.d = d,
		.pieces = pieces,
		.pieces_cnt = pieces_cnt,
		.code = code,
		.first_target = UINT64_MAX,
		.in_entry = true,
		.only_nops = true,
	};
	const uint8_t *reached;
	int err;

	code->sites_cnt = 0;
	code->exits_cnt = code->calls_cnt = 0;
	code->loops_to_entry = code->insns = 0;
	code->tail_jumps = code->loops = code->dear = false;
	code->leaf = code->followed = true;
	code->exits_missing = false;
	code->no_exits = code->bad = NULL;
	err = reached_clear(d, pieces, pieces_cnt);
	if (!err)
		err = scan_block(&s, (struct work){pieces[0].vaddr, 0});
	s.in_entry = false;
	if (!err)
		err = scan_work(&s);
	if (!err)
		err = scan_pads(&s);
	if (err)
		return err;
	reached = d->reached;
	for (size_t i = 0; i < pieces_cnt; i++) {
		scan_rest(&s, &pieces[i], reached);
		reached += pieces[i].size;
	}
	if (code->bad) {
		/* What follows the bad bytes is unknown; so is where it may jump to. */
		lose_track(&s);
		if (code->sites_cnt)
			code->sites_cnt = code->sites[0].offset ? 0 : 1;
	}
	if (!code->exits_cnt && !code->no_exits && !code->bad)
		code->no_exits = s.unread_table ? "leaves behind a jump table that cannot be read"
						: "never leaves by a return or a jump";
	cut_sites(&s, next_label);
	d->certain = flow_is_certain(&s);
	return 0;
}

void code_decoder__note_edges(struct code_decoder *d)
{
	d->notes_edges = true;
}

struct code_flow code_decoder__flow(const struct code_decoder *d)
{
	return (struct code_flow){d->reached, d->edges, d->edges_cnt, d->certain};
}

void code_clear(struct code *code)
{
	free(code->exits);
	free(code->calls);
	*code = (struct code){0};
}
