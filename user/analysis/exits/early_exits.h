/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exits that are seen a few instructions before the `ret`. The kernel single-steps a `ret`, which
 * costs ten times as much as a branch, which the kernel emulates. Each way to most `ret`s passes a
 * branch behind the last call, for instance
 *
 *	call	work
 *	test	%eax, %eax
 *	je	out		<- leaves if taken: early exit, JCC e, slot at sp + 8
 *	call	more
 *	jmp	out		<- early exit, JMP, slot at sp + 8
 *	...
 * out:	pop	%rbx
 *	ret
 *
 * and what runs from there to the `ret` is a few instructions that call nothing.
 */
#ifndef PROFTRACE_EXITS_EARLY_EXITS_H
#define PROFTRACE_EXITS_EARLY_EXITS_H

#include <stddef.h>

#include "code/code.h"

struct early_exits;
struct insn_decoder;

/* `insn` is borrowed. Returns 0 or -ENOMEM. */
int early_exits__new(struct insn_decoder *insn, struct early_exits **out);
void early_exits__free(struct early_exits *e); /* accepts NULL */

/*
 * Replaces those `ret`s in code->exits that no way leads to without passing such a branch, by the
 * branches. `code` and `flow` are what code_decode() has made of the pieces, with edges noted. The
 * others stay, as do jumps out. Branches that may lie in a loop are never chosen, as they would be
 * hit in vain each round; nor instructions of the entry block but branches at its end. Returns 0 or
 * -ENOMEM.
 */
int early_exits__find(struct early_exits *e, const struct code_piece *pieces, size_t pieces_cnt,
		      const struct code_flow *flow, struct code *code);

#endif
