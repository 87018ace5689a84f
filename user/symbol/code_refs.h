/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that x86-64 code mentions. No more than that: what an instruction does is for
 * code/insn.h. Inside symbol/ only.
 */
#ifndef PROFTRACE_SYMBOL_CODE_REFS_H
#define PROFTRACE_SYMBOL_CODE_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_ref_kind {
	REF_CALL,
	REF_JUMP,
	REF_BRANCH,  /* a jump that may be taken */
	REF_ADDRESS, /* computed from the instruction pointer, or a constant */
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

/*
 * Decodes `size` bytes at `vaddr` one instruction after the other, and visits what they refer to.
 * What is no instruction is passed over, byte by byte. Returns 0 or what the visitor has returned.
 */
int code_refs__scan(const uint8_t *bytes, size_t size, uint64_t vaddr, code_ref_visitor visit,
		    void *ctx);

/* Whether the bytes are stubs alone, as linkers make them for imports: each jumps through a pointer
 * or to the other stubs, and padding follows. */
bool code_refs__is_stubs(const uint8_t *bytes, size_t size);

#endif
