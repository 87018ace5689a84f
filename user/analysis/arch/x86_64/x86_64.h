/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of this folder that struct arch points to: see arch/arch.h. */
#ifndef PROFTRACE_ARCH_X86_64_X86_64_H
#define PROFTRACE_ARCH_X86_64_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/code_refs.h"

struct arch_transfer;
struct insn;
struct insn_decoder;
struct operands;
struct wire_emulation;

struct insn_decoder *x86_64_decoder__new(void);
void x86_64_decoder__free(struct insn_decoder *d);
void x86_64_decoder__forget(struct insn_decoder *d);
bool x86_64_decoder__decode(struct insn_decoder *d, const uint8_t *bytes, size_t len,
			    struct insn *out);

int x86_64_refs__visit(struct prefix_memo *plain, const uint8_t *bytes, size_t size, uint64_t vaddr,
		       code_ref_visitor visit, void *ctx);
bool x86_64_refs__is_stubs(const uint8_t *bytes, size_t size);

bool x86_64_operands__decode(const uint8_t *bytes, size_t len, struct operands *out);

bool x86_64_emulation__of(const uint8_t *bytes, size_t len, struct wire_emulation *out);

size_t x86_64_stack_loads__find(const uint8_t *bytes, size_t from, size_t size);

size_t x86_64_transfers__find(const uint8_t *bytes, size_t from, size_t size,
			      struct arch_transfer *out);

#endif
