// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/tiny.h"

#include <stdbool.h>
#include <stddef.h>

#include "code/code.h"

/*
 * A probe costs about 1,000 ns where it is cheap, in which a CPU runs some 3,000 instructions. This
 * many take 10 ns, and 300 ns if a tenth of them miss all caches. What they cost is still to be
 * seen: in their callers, where it belongs as much as if they had been inlined.
 */
#define MAX_INSNS 32

#define REASON(n) "a leaf of " #n " instructions, cheaper than its probe (-F names it)"

static const char *const reasons[MAX_INSNS + 1] = {
	NULL,	    "a leaf of 1 instruction, cheaper than its probe (-F names it)",
	REASON(2),  REASON(3),
	REASON(4),  REASON(5),
	REASON(6),  REASON(7),
	REASON(8),  REASON(9),
	REASON(10), REASON(11),
	REASON(12), REASON(13),
	REASON(14), REASON(15),
	REASON(16), REASON(17),
	REASON(18), REASON(19),
	REASON(20), REASON(21),
	REASON(22), REASON(23),
	REASON(24), REASON(25),
	REASON(26), REASON(27),
	REASON(28), REASON(29),
	REASON(30), REASON(31),
	REASON(32),
};

unsigned tiny__insns(const struct code *code)
{
	bool tiny =
		code->leaf && !code->loops && !code->dear && !code->bad && code->insns <= MAX_INSNS;

	return tiny ? code->insns : 0;
}

/* At WIRE_INSN_PS each this is 26 ns, which is less than by how much two calls' probes differ. */
#define MAX_UNTIMED 64

unsigned tiny__returns_within(const struct code *code)
{
	bool returns = code->leaf && !code->loops && !code->dear && !code->traps && !code->bad &&
		       !code->no_exits && !code->patched && code->insns <= MAX_UNTIMED;

	return returns ? code->insns : 0;
}

const char *tiny__reason(const struct code *code)
{
	return reasons[tiny__insns(code)];
}
