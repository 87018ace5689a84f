/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's machine code, decoded along its flow of control: where it can be probed at its entry
 * and where it leaves. Pure computation on bytes; what they mean is the architecture's to say.
 */
#ifndef PROFTRACE_CODE_CODE_H
#define PROFTRACE_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/sites.h"
#include "code/function_code.h"

struct arch;
struct insn_decoder;

struct code_decoder;

/* Returns 0 or -ENOMEM. `read` may be NULL: then jump tables stay unread. */
int code_decoder__new(const struct arch *arch, enum call_nops call_nops, code_reader read,
		      void *read_ctx, struct code_decoder **out);
/* From now on what the kernel may make a call of is no site. */
void code_decoder__spare_nop5(struct code_decoder *d);
/* From now on no call is a site. */
void code_decoder__spare_calls(struct code_decoder *d);
void code_decoder__free(struct code_decoder *d); /* accepts NULL */
/* The decoder of instructions that it has, which knows those that it has met: for who looks at the
 * same code once more. */
struct insn_decoder *code_decoder__insn(const struct code_decoder *d);

/*
 * Decodes a function: pieces[0] begins with its entry, further pieces are its cold parts.
 * `next_label` is the vaddr of the first symbol behind the entry (UINT64_MAX: none): if it lies
 * inside the function it ends the entry block, for somebody may jump there. Fills *code (reusing
 * its arrays; zero it before the first use and code_clear() it after the last). Returns 0 or
 * -ENOMEM.
 */
int code_decode(struct code_decoder *d, const struct code_piece *pieces, size_t pieces_cnt,
		uint64_t next_label, struct code *code);

/* Has the decoder note edges: they take memory, and few want them. */
void code_decoder__note_edges(struct code_decoder *d);

/* The code that code_decode() has followed, with its edges if they were to be noted. Valid until
 * code_decode() is called again. */
struct code_flow code_decoder__flow(const struct code_decoder *d);

#endif
