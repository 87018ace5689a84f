// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfi.h"

#include "arch/arch.h"
#include "elf/dwarf_cursor.h"
#include "unwind/frame_rules.h"

struct rules {
	const struct arch_dwarf *arch;
	uint64_t cfa_register, cfa_offset;
	bool saved;   /* some register but the return address, or that in an unusual way */
	bool unknown; /* by a rule that is not followed here */
};

static void set_register(struct rules *r, uint64_t number, bool as_called)
{
	r->saved |= number != r->arch->return_address || !as_called;
}

/* One operation without an operand of its own. Returns whether the next one is for the same
 * address. */
static bool apply_extended(struct dwarf_cursor *c, uint8_t op, struct rules *r)
{
	uint64_t number;

	switch (op) {
	case CFI_NOP:
	case CFI_REMEMBER_STATE:
		break;
	case CFI_SET_LOC:
	case CFI_ADVANCE_LOC1 ... CFI_ADVANCE_LOC4:
		return false;
	case CFI_OFFSET_EXTENDED:
		number = dwarf_uleb128(c);
		set_register(r, number, dwarf_uleb128(c) == 1);
		break;
	case CFI_SAME_VALUE:
		set_register(r, dwarf_uleb128(c), false);
		break;
	case CFI_DEF_CFA:
		r->cfa_register = dwarf_uleb128(c);
		r->cfa_offset = dwarf_uleb128(c);
		break;
	case CFI_DEF_CFA_REGISTER:
		r->cfa_register = dwarf_uleb128(c);
		break;
	case CFI_DEF_CFA_OFFSET:
		r->cfa_offset = dwarf_uleb128(c);
		break;
	case CFI_ARGS_SIZE:
		dwarf_uleb128(c);
		break;
	default: /* expressions, and what no function begins with */
		r->unknown = true;
		return false;
	}
	return true;
}

static void apply(struct dwarf_cursor *c, struct rules *r)
{
	while (!c->bad && !r->unknown && c->at < c->end) {
		uint8_t op = dwarf_fixed(c, 1);

		switch (op >> 6) {
		case CFI_ADVANCE_LOC:
			return;
		case CFI_OFFSET: /* in units of the CIE's factor, which is -8 */
			set_register(r, op & 0x3f, dwarf_uleb128(c) == 1);
			break;
		case CFI_RESTORE:
			break;
		default:
			if (!apply_extended(c, op, r))
				return;
		}
	}
}

bool cfi_begins_as_called(const struct arch_dwarf *arch, struct dwarf_cursor common,
			  struct dwarf_cursor own)
{
	struct rules r = {.arch = arch};

	apply(&common, &r);
	apply(&own, &r);
	return !common.bad && !own.bad && !r.unknown && !r.saved &&
	       r.cfa_register == arch->stack_pointer && r.cfa_offset == arch->entered;
}

struct cfa_rule {
	uint64_t reg, offset;
	bool computed; /* by an expression */
};

/* How the rule of the frame's address changes from instruction to instruction. */
struct cfa_run {
	uint64_t at, factor;
	struct cfa_rule rule, remembered[CFI_MAX_REMEMBERED];
	unsigned int depth;
};

static void cfa_remember(struct dwarf_cursor *c, struct cfa_run *r)
{
	if (r->depth == CFI_MAX_REMEMBERED)
		c->bad = true;
	else
		r->remembered[r->depth++] = r->rule;
}

static void cfa_restore(struct dwarf_cursor *c, struct cfa_run *r)
{
	if (r->depth)
		r->rule = r->remembered[--r->depth];
	else
		c->bad = true;
}

/* An operation about another register than the frame's address: it is passed over. */
static void skip_register(struct dwarf_cursor *c, uint8_t op)
{
	dwarf_uleb128(c);
	switch (op) {
	case CFI_RESTORE_EXTENDED:
	case CFI_UNDEFINED:
	case CFI_SAME_VALUE:
	case CFI_ARGS_SIZE:
		break;
	case CFI_EXPRESSION:
	case CFI_VAL_EXPRESSION:
		dwarf_take(c, dwarf_uleb128(c));
		break;
	case CFI_OFFSET_EXTENDED:
	case CFI_REGISTER:
	case CFI_OFFSET_EXTENDED_SF:
	case CFI_VAL_OFFSET:
	case CFI_VAL_OFFSET_SF:
	case CFI_NEGATIVE_OFFSET_EXTENDED:
		dwarf_uleb128(c); /* signed or not, it is as long */
		break;
	default:
		c->bad = true;
	}
}

static void cfa_extended(struct dwarf_cursor *c, uint8_t op, struct cfa_run *r)
{
	switch (op) {
	case CFI_NOP:
		break;
	case CFI_ADVANCE_LOC1:
		r->at += dwarf_fixed(c, 1) * r->factor;
		break;
	case CFI_ADVANCE_LOC2:
		r->at += dwarf_fixed(c, 2) * r->factor;
		break;
	case CFI_ADVANCE_LOC4:
		r->at += dwarf_fixed(c, 4) * r->factor;
		break;
	case CFI_REMEMBER_STATE:
		cfa_remember(c, r);
		break;
	case CFI_RESTORE_STATE:
		cfa_restore(c, r);
		break;
	case CFI_DEF_CFA:
		r->rule.reg = dwarf_uleb128(c);
		r->rule.offset = dwarf_uleb128(c);
		r->rule.computed = false;
		break;
	case CFI_DEF_CFA_REGISTER:
		r->rule.reg = dwarf_uleb128(c);
		break;
	case CFI_DEF_CFA_OFFSET:
		r->rule.offset = dwarf_uleb128(c);
		break;
	case CFI_DEF_CFA_EXPRESSION:
		dwarf_take(c, dwarf_uleb128(c));
		r->rule.computed = true;
		break;
	default:
		skip_register(c, op);
	}
}

/* Follows the rules up to `vaddr`. */
static void cfa_follow(struct dwarf_cursor *c, struct cfa_run *r, uint64_t vaddr)
{
	while (!c->bad && c->at < c->end && r->at <= vaddr) {
		uint8_t op = dwarf_fixed(c, 1);

		switch (op >> 6) {
		case CFI_ADVANCE_LOC:
			r->at += (op & 0x3f) * r->factor;
			break;
		case CFI_OFFSET:
			dwarf_uleb128(c);
			break;
		case CFI_RESTORE:
			break;
		default:
			cfa_extended(c, op, r);
		}
	}
}

void cfi_find_cfa(const struct arch_dwarf *arch, struct dwarf_cursor common,
		  struct dwarf_cursor own, uint64_t factor, uint64_t start, struct eh_cfa *cfa)
{
	struct cfa_run r = {.at = start, .factor = factor};

	cfa_follow(&common, &r, cfa->vaddr);
	cfa_follow(&own, &r, cfa->vaddr);
	if (common.bad || own.bad || r.rule.computed)
		return;
	cfa->offset = r.rule.offset;
	if (r.rule.reg == arch->stack_pointer)
		cfa->base = EH_CFA_STACK_POINTER;
	else if (r.rule.reg == arch->frame_pointer)
		cfa->base = EH_CFA_FRAME_POINTER;
}
