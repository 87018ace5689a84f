/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that code mentions. No more than that: what an instruction does is for
 * arch/insn.h.
 */
#ifndef PROFTRACE_ARCH_CODE_REFS_H
#define PROFTRACE_ARCH_CODE_REFS_H

#include <stdint.h>

struct prefix_memo; /* arch/prefix_memo.h */

enum code_ref_kind {
	REF_CALL,
	REF_JUMP,
	REF_BRANCH,  /* a jump that may be taken */
	REF_ADDRESS, /* computed from the instruction's own, or a constant */
	REF_SLOT,    /* jumps through a pointer at a fixed place */
	REF_END,     /* to nowhere that is known, and does not go on */
};

struct code_ref {
	uint64_t from; /* of the instruction */
	uint64_t end;  /* of the same */
	uint64_t to;
	enum code_ref_kind kind;
};

/* Returns 0, or what ends the scan. */
typedef int (*code_ref_visitor)(void *ctx, const struct code_ref *ref);

#endif
