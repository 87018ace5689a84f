/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check that Go functions begin with: if the stack is too small they grow it and begin anew.
 */
#ifndef PROFTRACE_CODE_GO_PROLOGUE_H
#define PROFTRACE_CODE_GO_PROLOGUE_H

struct code;
struct code_piece;
struct insn_decoder;

/*
 * Looks for the check in a Go function that has been decoded. If there is one, its last branch
 * becomes the function's only site: each call passes it exactly once without taking it, however
 * often the function restarts before. `piece` is the one with the entry.
 */
void go_prologue__apply(struct insn_decoder *insn, const struct code_piece *piece,
			struct code *code);

#endif
