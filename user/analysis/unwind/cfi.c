// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows an FDE's instructions from row to row: the rules for the frame's address, the frame
 * pointer and the return address (DWARF 5, 6.4.3). All other registers are one here. */
#include "unwind/cfi.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "unwind/frame_rules.h"

#define MAX_REMEMBERED 16 /* states, one in the other; compilers need one */

/* Opcodes of DWARF's expressions. */
enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
};

/* Saved registers in the kernel's signal frame, in bytes above the stack pointer of the handler's
 * return: uc_mcontext of struct ucontext (arch/x86/include/uapi/asm/sigcontext.h). */
#define UCONTEXT_RBP 120
#define UCONTEXT_RSP 160
#define UCONTEXT_RIP 168

enum where {
	WHERE_SAME,
	WHERE_AT_CFA,	   /* at the CFA + offset */
	WHERE_AT_REGISTER, /* at `base` + offset */
	WHERE_NOWHERE,	   /* undefined: the outermost call */
	WHERE_UNSAID,
	WHERE_UNKNOWN,
};

struct saved {
	enum where where;
	uint64_t base;
	int64_t offset;
};

/* The rules in force. */
struct state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_loaded;	     /* it is the word there */
	bool cfa_unknown;	     /* by an expression that is not known here */
	int64_t stub_from;	     /* not -1: it is an import stub's */
	struct saved fp, ra, others; /* rbp on x86-64 */
};

struct follow {
	const struct cfi_program *program;
	uint64_t at;
	struct state now, initial;
	struct state remembered[MAX_REMEMBERED]; /* `depth` of them */
	unsigned int depth;
};

static int64_t scaled(const struct follow *f, int64_t n)
{
	int64_t product = 0;

	return __builtin_mul_overflow(n, f->program->data_factor, &product) ? INT64_MIN : product;
}

static struct saved *saved_of(const struct follow *f, struct state *s, uint64_t number)
{
	const struct arch_dwarf *arch = f->program->arch;

	if (number == arch->return_address)
		return &s->ra;
	return number == arch->frame_pointer ? &s->fp : &s->others;
}

static void set_saved(struct follow *f, uint64_t number, enum where where, int64_t offset)
{
	*saved_of(f, &f->now, number) = (struct saved){.where = where, .offset = offset};
}

static void restore(struct follow *f, uint64_t number)
{
	*saved_of(f, &f->now, number) = *saved_of(f, &f->initial, number);
}

static void set_cfa(struct follow *f, uint64_t number, int64_t offset)
{
	f->now.cfa_register = number;
	f->now.cfa_offset = offset;
	f->now.cfa_loaded = f->now.cfa_unknown = false;
	f->now.stub_from = -1;
}

/* An expression of one register and a displacement, which `loaded` follows. */
static bool is_base(struct dwarf_cursor e, uint64_t *number, int64_t *offset, bool *loaded)
{
	uint64_t op = dwarf_fixed(&e, 1);

	*number = op - OP_BREG0;
	*offset = dwarf_sleb128(&e);
	*loaded = e.at < e.end;
	if (*loaded && dwarf_fixed(&e, 1) != OP_DEREF)
		return false;
	return !e.bad && e.at == e.end && op >= OP_BREG0 && op < OP_BREG0 + 32;
}

/* Reads the expression that linkers write for stubs of 16 bytes that push something amid them:
 * breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus. Returns N, or -1. */
static int64_t stub_threshold(struct dwarf_cursor e)
{
	static const uint8_t head[] = {OP_BREG0 + CFI_RSP, 8,	  OP_BREG0 + CFI_RETURN_ADDRESS, 0,
				       OP_LIT0 + 15,	   OP_AND};
	static const uint8_t tail[] = {OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS};
	const uint8_t *at = e.at;

	if ((size_t)(e.end - e.at) != sizeof(head) + 1 + sizeof(tail) ||
	    memcmp(at, head, sizeof(head)) || memcmp(at + sizeof(head) + 1, tail, sizeof(tail)) ||
	    at[sizeof(head)] < OP_LIT0 || at[sizeof(head)] > OP_LIT0 + 15)
		return -1;
	return at[sizeof(head)] - OP_LIT0;
}

/* The expression that comes next. */
static struct dwarf_cursor expression(struct dwarf_cursor *c)
{
	uint64_t len = dwarf_uleb128(c);
	struct dwarf_cursor e = *c;

	if (dwarf_take(c, len))
		e.end = c->at;
	else
		e.end = e.at;
	return e;
}

static void set_cfa_expression(struct follow *f, struct dwarf_cursor e)
{
	int64_t offset, stub = stub_threshold(e);
	uint64_t number;
	bool loaded;

	if (stub >= 0) {
		set_cfa(f, CFI_RSP, 8);
		f->now.stub_from = stub;
	} else if (is_base(e, &number, &offset, &loaded)) {
		set_cfa(f, number, offset);
		f->now.cfa_loaded = loaded;
	} else {
		set_cfa(f, 0, 0);
		f->now.cfa_unknown = true;
	}
}

static void set_expression(struct follow *f, uint64_t number, struct dwarf_cursor e)
{
	struct saved *s = saved_of(f, &f->now, number);
	bool loaded;

	*s = (struct saved){.where = WHERE_AT_REGISTER};
	if (!is_base(e, &s->base, &s->offset, &loaded) || loaded)
		s->where = WHERE_UNKNOWN;
}

static void remember(struct follow *f, struct dwarf_cursor *c)
{
	if (f->depth == MAX_REMEMBERED)
		c->bad = true;
	else
		f->remembered[f->depth++] = f->now;
}

static void recall(struct follow *f, struct dwarf_cursor *c)
{
	if (f->depth)
		f->now = f->remembered[--f->depth];
	else
		c->bad = true;
}

/* An operation that says where a register is, with its number as the first operand. */
static void apply_register(struct follow *f, struct dwarf_cursor *c, uint8_t op)
{
	uint64_t number = dwarf_uleb128(c);

	switch (op) {
	case CFI_OFFSET_EXTENDED:
		set_saved(f, number, WHERE_AT_CFA, scaled(f, (int64_t)dwarf_uleb128(c)));
		break;
	case CFI_OFFSET_EXTENDED_SF:
		set_saved(f, number, WHERE_AT_CFA, scaled(f, dwarf_sleb128(c)));
		break;
	case CFI_NEGATIVE_OFFSET_EXTENDED:
		set_saved(f, number, WHERE_AT_CFA, scaled(f, -(int64_t)dwarf_uleb128(c)));
		break;
	case CFI_RESTORE_EXTENDED:
		restore(f, number);
		break;
	case CFI_UNDEFINED:
		set_saved(f, number, WHERE_NOWHERE, 0);
		break;
	case CFI_SAME_VALUE:
		set_saved(f, number, WHERE_SAME, 0);
		break;
	case CFI_EXPRESSION:
		set_expression(f, number, expression(c));
		break;
	case CFI_REGISTER:
	case CFI_VAL_OFFSET:
	case CFI_VAL_OFFSET_SF:
		dwarf_uleb128(c); /* signed or not, it is as long */
		set_saved(f, number, WHERE_UNKNOWN, 0);
		break;
	case CFI_VAL_EXPRESSION:
		expression(c);
		set_saved(f, number, WHERE_UNKNOWN, 0);
		break;
	default:
		c->bad = true;
	}
}

static void apply_extended(struct follow *f, struct dwarf_cursor *c, uint8_t op)
{
	uint64_t number;

	switch (op) {
	case CFI_NOP:
		break;
	case CFI_REMEMBER_STATE:
		remember(f, c);
		break;
	case CFI_RESTORE_STATE:
		recall(f, c);
		break;
	case CFI_DEF_CFA:
		number = dwarf_uleb128(c);
		set_cfa(f, number, (int64_t)dwarf_uleb128(c));
		break;
	case CFI_DEF_CFA_SF:
		number = dwarf_uleb128(c);
		set_cfa(f, number, scaled(f, dwarf_sleb128(c)));
		break;
	case CFI_DEF_CFA_REGISTER:
		set_cfa(f, dwarf_uleb128(c), f->now.cfa_offset);
		break;
	case CFI_DEF_CFA_OFFSET:
		set_cfa(f, f->now.cfa_register, (int64_t)dwarf_uleb128(c));
		break;
	case CFI_DEF_CFA_OFFSET_SF:
		set_cfa(f, f->now.cfa_register, scaled(f, dwarf_sleb128(c)));
		break;
	case CFI_DEF_CFA_EXPRESSION:
		set_cfa_expression(f, expression(c));
		break;
	case CFI_ARGS_SIZE:
		dwarf_uleb128(c);
		break;
	default:
		apply_register(f, c, op);
	}
}

/* Whether the operation moves on, and then by how much. */
static bool advances(const struct follow *f, struct dwarf_cursor *c, uint8_t op, uint64_t *by)
{
	if (op >> 6 == CFI_ADVANCE_LOC)
		*by = op & 0x3f;
	else if (op >= CFI_ADVANCE_LOC1 && op <= CFI_ADVANCE_LOC4)
		*by = dwarf_fixed(c, (size_t)1 << (op - CFI_ADVANCE_LOC1));
	else
		return false;
	c->bad |= __builtin_mul_overflow(*by, f->program->code_factor, by);
	return true;
}

/* Looks at a row that is complete: from f->at on the rules are f->now. Other than 0 ends it all. */
typedef int (*row_visitor)(const struct follow *f, void *ctx);

/* Follows the instructions at `c`; each that moves on ends a row. */
static int follow(struct follow *f, struct dwarf_cursor *c, row_visitor fn, void *ctx)
{
	while (!c->bad && c->at < c->end) {
		uint8_t op = dwarf_fixed(c, 1);
		uint64_t by;

		if (advances(f, c, op, &by)) {
			int err;

			if (c->bad || !fn || by >= f->program->end - f->at)
				return c->bad || !fn ? -ENOEXEC : 0;
			err = by ? fn(f, ctx) : 0;
			if (err)
				return err;
			f->at += by;
			continue;
		}
		switch (op >> 6) {
		case CFI_OFFSET:
			set_saved(f, op & 0x3f, WHERE_AT_CFA, scaled(f, (int64_t)dwarf_uleb128(c)));
			break;
		case CFI_RESTORE:
			restore(f, op & 0x3f);
			break;
		default:
			apply_extended(f, c, op);
		}
	}
	return c->bad ? -ENOEXEC : 0;
}

/* Visits all rows; from damage on there is one of which nothing is known. */
static int follow_all(const struct cfi_program *p, row_visitor fn, void *ctx)
{
	struct follow f; /* of a thousand bytes hardly any are ever needed */
	struct dwarf_cursor common = p->common, own = p->own;
	struct state nothing;
	int err;

	f.program = p;
	f.at = p->start;
	f.depth = 0;
	f.now = (struct state){.ra.where = WHERE_UNSAID};
	set_cfa(&f, 0, 0);
	f.now.cfa_unknown = true;
	f.initial = nothing = f.now;
	err = follow(&f, &common, NULL, NULL);
	f.initial = f.now;
	f.depth = 0;
	if (!err)
		err = follow(&f, &own, fn, ctx);
	if (err && err != -ENOEXEC)
		return err;
	if (err)
		f.now = nothing;
	return fn(&f, ctx);
}

static bool is_signal(const struct state *s)
{
	return s->cfa_loaded && s->cfa_register == CFI_RSP && s->cfa_offset == UCONTEXT_RSP &&
	       s->ra.where == WHERE_AT_REGISTER && s->ra.base == CFI_RSP &&
	       s->ra.offset == UCONTEXT_RIP && s->fp.where == WHERE_AT_REGISTER &&
	       s->fp.base == CFI_RSP && s->fp.offset == UCONTEXT_RBP;
}

/* Whether the return address is where a call has put it. */
static bool is_on_top(const struct state *s)
{
	return s->ra.where == WHERE_AT_CFA && s->ra.offset == -8;
}

/* How the frame's address is found, as far as one of the known ways will do. */
static enum eh_rule rule_of(const struct state *s, bool signal)
{
	if (s->ra.where == WHERE_NOWHERE)
		return EH_RULE_END;
	if (signal)
		return is_signal(s) ? EH_RULE_SIGNAL : EH_RULE_UNKNOWN;
	if (s->cfa_unknown || !is_on_top(s))
		return EH_RULE_UNKNOWN;
	if (s->stub_from >= 0)
		return EH_RULE_STUB;
	if (s->cfa_register == CFI_RSP)
		return s->cfa_loaded ? EH_RULE_UNKNOWN : EH_RULE_RSP;
	if (s->cfa_register == CFI_RBP)
		return s->cfa_loaded ? EH_RULE_AT_RBP : EH_RULE_RBP;
	if (s->cfa_register == CFI_RBX && !s->cfa_loaded)
		return EH_RULE_RBX;
	return EH_RULE_UNKNOWN;
}

static struct eh_row row_of(const struct follow *f)
{
	const struct state *s = &f->now;
	struct eh_row row = {
		.vaddr = f->at,
		.cfa_offset = s->stub_from >= 0 ? s->stub_from : s->cfa_offset,
		.rule = rule_of(s, f->program->signal),
	};

	switch (s->fp.where) {
	case WHERE_SAME:
	case WHERE_NOWHERE: /* so clang writes of a caller's that is of no use */
		row.rbp = EH_RBP_SAME;
		break;
	case WHERE_AT_CFA:
		row.rbp = EH_RBP_SAVED;
		row.rbp_offset = -s->fp.offset;
		break;
	case WHERE_AT_REGISTER:
		row.rbp = s->fp.base == CFI_RBP && !s->fp.offset ? EH_RBP_AT_RBP : EH_RBP_UNKNOWN;
		break;
	default:
		row.rbp = EH_RBP_UNKNOWN;
	}
	return row;
}

struct visit {
	int (*row)(const struct eh_row *row, void *ctx);
	void *ctx;
};

static int visit_row(const struct follow *f, void *ctx)
{
	const struct visit *v = ctx;
	struct eh_row row = row_of(f);

	return v->row(&row, v->ctx);
}

int cfi_for_each_row(const struct cfi_program *p, int (*row)(const struct eh_row *row, void *ctx),
		     void *ctx)
{
	struct visit visit = {row, ctx};

	return follow_all(p, visit_row, &visit);
}

/* Notes the rule in force at cfa->vaddr: the last one before it. */
static int note_cfa(const struct follow *f, void *ctx)
{
	const struct arch_dwarf *arch = f->program->arch;
	const struct state *s = &f->now;
	struct eh_cfa *cfa = ctx;

	if (f->at > cfa->vaddr)
		return 1;
	cfa->base = EH_CFA_UNKNOWN;
	cfa->offset = s->cfa_offset;
	if (s->cfa_unknown || s->cfa_loaded || s->stub_from >= 0)
		return 0;
	if (s->cfa_register == arch->stack_pointer)
		cfa->base = EH_CFA_STACK_POINTER;
	else if (s->cfa_register == arch->frame_pointer)
		cfa->base = EH_CFA_FRAME_POINTER;
	return 0;
}

void cfi_find_cfa(const struct cfi_program *p, struct eh_cfa *cfa)
{
	follow_all(p, note_cfa, cfa);
}

/* Looks at the first row only. */
static int note_beginning(const struct follow *f, void *ctx)
{
	const struct arch_dwarf *arch = f->program->arch;
	const struct state *s = &f->now;

	*(bool *)ctx = !s->cfa_unknown && !s->cfa_loaded && s->stub_from < 0 &&
		       s->cfa_register == arch->stack_pointer && s->cfa_offset == arch->entered &&
		       s->fp.where == WHERE_SAME && s->others.where == WHERE_SAME &&
		       (s->ra.where == WHERE_UNSAID || is_on_top(s));
	return 1;
}

bool cfi_begins_as_called(const struct cfi_program *p)
{
	bool as_called = false;

	follow_all(p, note_beginning, &as_called);
	return as_called;
}
