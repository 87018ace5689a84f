// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/cfi.h"

#include "symbol/dwarf_cursor.h"

/* DWARF's numbers of x86-64's registers. */
#define RSP	       7
#define RETURN_ADDRESS 16

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
	ADVANCE_LOC4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	SAME_VALUE = 0x08,
	REMEMBER_STATE = 0x0a,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	ARGS_SIZE = 0x2e, /* GNU's */
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
