/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of this folder that struct arch points to: see arch/arch.h. */
#ifndef PROFTRACE_ARCH_ARM64_ARM64_H
#define PROFTRACE_ARCH_ARM64_ARM64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/code_refs.h"

struct insn;
struct insn_decoder;
struct operands;

#define ARM64_INSN_SIZE 4

/* One instruction; they are little-endian, whatever data is. */
static inline uint32_t arm64_word(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline bool arm64_is(uint32_t word, uint32_t mask, uint32_t value)
{
	return (word & mask) == value;
}

/* The `cnt` bits of the word from bit `from` on, as a signed number. */
static inline int64_t arm64_signed(uint32_t word, unsigned int from, unsigned int cnt)
{
	return (int32_t)(word << (32 - from - cnt)) >> (32 - cnt);
}

struct insn_decoder *arm64_decoder__new(void);
void arm64_decoder__free(struct insn_decoder *d);
bool arm64_decoder__decode(struct insn_decoder *d, const uint8_t *bytes, size_t len,
			   struct insn *out);

int arm64_refs__visit(struct prefix_memo *plain, const uint8_t *bytes, size_t size, uint64_t vaddr,
		      code_ref_visitor visit, void *ctx);
bool arm64_refs__is_stubs(const uint8_t *bytes, size_t size);

#endif
