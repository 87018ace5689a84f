// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check of the stack that Go's compiler emits (src/cmd/internal/obj/x86/obj6.go, stacksplit):
 * the stack pointer, less the frame's size if that is large, is compared with a limit in the
 * current g; a branch leads to a tail that saves the arguments, calls runtime.morestack, restores
 * them and jumps to the entry. Huge frames have a branch more, against wrapping around, to the same
 * tail.
 */
#include "code/go_prologue.h"

#include <stdbool.h>

#include "arch/insn.h"
#include "code/code.h"

#define MAX_PROLOGUE 16 /* instructions up to the last branch; ten are the most seen */
#define MAX_TAIL     96 /* instructions of the tail: saves and restores of 24 registers, and spare */

/* Whether the code at `vaddr` calls another function and then jumps to this one's entry, and that
 * is all. */
static bool restarts(struct insn_decoder *insn, const struct code_piece *piece, uint64_t vaddr)
{
	bool called = false;
	struct insn in;

	for (int i = 0; i < MAX_TAIL; i++) {
		uint64_t offset = vaddr - piece->vaddr;

		if (offset >= piece->size ||
		    !insn_decode(insn, piece->bytes + offset, piece->size - offset, &in))
			return false;
		vaddr += in.length;
		if (in.flow == FLOW_JMP)
			return called && vaddr + in.rel == piece->vaddr;
		if (in.flow == FLOW_CALL && !called)
			called = vaddr + in.rel - piece->vaddr >= piece->size;
		else if (in.flow != FLOW_NEXT)
			return false;
	}
	return false;
}

void go_prologue__apply(struct insn_decoder *insn, const struct code_piece *piece,
			struct code *code)
{
	uint64_t offset = 0;
	int64_t delta = 0;
	bool found = false;
	struct insn in;

	if (code->bad || !code->loops_to_entry)
		return;
	for (int i = 0; i < MAX_PROLOGUE && offset < piece->size; i++, offset += in.length) {
		/* Something jumps there: no part of what runs first. */
		if (piece->vaddr + offset >= code->block_end ||
		    !insn_decode(insn, piece->bytes + offset, piece->size - offset, &in))
			break;
		if (in.flow == FLOW_JCC && in.probeable && delta >= 0 && delta <= UINT16_MAX &&
		    restarts(insn, piece, piece->vaddr + offset + in.length + in.rel)) {
			code->sites[0] = (struct code_site){.offset = offset,
							    .delta = delta,
							    .site = SITE_JCC,
							    .restarts = true,
							    .cond = in.cond};
			found = true;
			continue;
		}
		if (in.flow != FLOW_NEXT || in.stack != STACK_MOVES)
			break;
		delta += in.down;
	}
	if (!found)
		return;
	code->sites_cnt = 1;
	code->loops_to_entry--;
}
