// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/cfi.h"

#include "symbol/dwarf_cursor.h"
#include "symbol/eh_frame.h"

/* DWARF's numbers of x86-64's registers. */
#define RBP	       6
#define RSP	       7
#define RETURN_ADDRESS 16

#define MAX_REMEMBERED 16 /* states, one in the other; compilers need one */

/* The upper two bits are the operation, the lower ones its operand. */
enum {
	ADVANCE_LOC = 1,
	OFFSET = 2,
	RESTORE = 3,
};

/* The others. */
enum {
	NOP = 0x00,
	SET_LOC = 0x01,
	ADVANCE_LOC1 = 0x02,
	ADVANCE_LOC2 = 0x03,
	ADVANCE_LOC4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REGISTER = 0x09,
	REMEMBER_STATE = 0x0a,
	RESTORE_STATE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	DEF_CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	VAL_OFFSET = 0x14,
	VAL_OFFSET_SF = 0x15,
	VAL_EXPRESSION = 0x16,
	ARGS_SIZE = 0x2e, /* GNU's */
	NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct rules {
	uint64_t cfa_register, cfa_offset;
	bool saved;   /* some register but the return address, or that in an unusual way */
	bool unknown; /* by a rule that is not followed here */
};

static void set_register(struct rules *r, uint64_t number, bool as_called)
{
	r->saved |= number != RETURN_ADDRESS || !as_called;
}

/* One operation without an operand of its own. Returns whether the next one is for the same
 * address. */
static bool apply_extended(struct dwarf_cursor *c, uint8_t op, struct rules *r)
{
	uint64_t number;

	switch (op) {
	case NOP:
	case REMEMBER_STATE:
		break;
	case SET_LOC:
	case ADVANCE_LOC1 ... ADVANCE_LOC4:
		return false;
	case OFFSET_EXTENDED:
		number = dwarf_uleb128(c);
		set_register(r, number, dwarf_uleb128(c) == 1);
		break;
	case SAME_VALUE:
		set_register(r, dwarf_uleb128(c), false);
		break;
	case DEF_CFA:
		r->cfa_register = dwarf_uleb128(c);
		r->cfa_offset = dwarf_uleb128(c);
		break;
	case DEF_CFA_REGISTER:
		r->cfa_register = dwarf_uleb128(c);
		break;
	case DEF_CFA_OFFSET:
		r->cfa_offset = dwarf_uleb128(c);
		break;
	case ARGS_SIZE:
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
		case ADVANCE_LOC:
			return;
		case OFFSET: /* in units of the CIE's factor, which is -8 */
			set_register(r, op & 0x3f, dwarf_uleb128(c) == 1);
			break;
		case RESTORE:
			break;
		default:
			if (!apply_extended(c, op, r))
				return;
		}
	}
}

bool cfi_begins_as_called(struct dwarf_cursor common, struct dwarf_cursor own)
{
	struct rules r = {0};

	apply(&common, &r);
	apply(&own, &r);
	return !common.bad && !own.bad && !r.unknown && !r.saved && r.cfa_register == RSP &&
	       r.cfa_offset == 8;
}

struct cfa_rule {
	uint64_t reg, offset;
	bool computed; /* by an expression */
};

/* How the rule of the frame's address changes from instruction to instruction. */
struct cfa_run {
	uint64_t at, factor;
	struct cfa_rule rule, remembered[MAX_REMEMBERED];
	unsigned int depth;
};

static void cfa_remember(struct dwarf_cursor *c, struct cfa_run *r)
{
	if (r->depth == MAX_REMEMBERED)
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
	case RESTORE_EXTENDED:
	case UNDEFINED:
	case SAME_VALUE:
	case ARGS_SIZE:
		break;
	case EXPRESSION:
	case VAL_EXPRESSION:
		dwarf_take(c, dwarf_uleb128(c));
		break;
	case OFFSET_EXTENDED:
	case REGISTER:
	case OFFSET_EXTENDED_SF:
	case VAL_OFFSET:
	case VAL_OFFSET_SF:
	case NEGATIVE_OFFSET_EXTENDED:
		dwarf_uleb128(c); /* signed or not, it is as long */
		break;
	default:
		c->bad = true;
	}
}

static void cfa_extended(struct dwarf_cursor *c, uint8_t op, struct cfa_run *r)
{
	switch (op) {
	case NOP:
		break;
	case ADVANCE_LOC1:
		r->at += dwarf_fixed(c, 1) * r->factor;
		break;
	case ADVANCE_LOC2:
		r->at += dwarf_fixed(c, 2) * r->factor;
		break;
	case ADVANCE_LOC4:
		r->at += dwarf_fixed(c, 4) * r->factor;
		break;
	case REMEMBER_STATE:
		cfa_remember(c, r);
		break;
	case RESTORE_STATE:
		cfa_restore(c, r);
		break;
	case DEF_CFA:
		r->rule.reg = dwarf_uleb128(c);
		r->rule.offset = dwarf_uleb128(c);
		r->rule.computed = false;
		break;
	case DEF_CFA_REGISTER:
		r->rule.reg = dwarf_uleb128(c);
		break;
	case DEF_CFA_OFFSET:
		r->rule.offset = dwarf_uleb128(c);
		break;
	case DEF_CFA_EXPRESSION:
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
		case ADVANCE_LOC:
			r->at += (op & 0x3f) * r->factor;
			break;
		case OFFSET:
			dwarf_uleb128(c);
			break;
		case RESTORE:
			break;
		default:
			cfa_extended(c, op, r);
		}
	}
}

void cfi_find_cfa(struct dwarf_cursor common, struct dwarf_cursor own, uint64_t factor,
		  uint64_t start, struct eh_cfa *cfa)
{
	struct cfa_run r = {.at = start, .factor = factor};

	cfa_follow(&common, &r, cfa->vaddr);
	cfa_follow(&own, &r, cfa->vaddr);
	if (common.bad || own.bad || r.rule.computed)
		return;
	cfa->offset = r.rule.offset;
	if (r.rule.reg == RSP)
		cfa->base = EH_CFA_RSP;
	else if (r.rule.reg == RBP)
		cfa->base = EH_CFA_RBP;
}
