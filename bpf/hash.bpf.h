/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes of words. */
#ifndef PROFTRACE_HASH_BPF_H
#define PROFTRACE_HASH_BPF_H

#include "kernel.bpf.h"

#define MIX(HASH, WORD) ((HASH) = rotate(((HASH) ^ (WORD)) * 0x9e3779b97f4a7c15ull))

static __always_inline u64 rotate(u64 word)
{
	return word << 29 | word >> 35;
}

#endif
