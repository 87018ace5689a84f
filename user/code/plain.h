/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that nothing but their code is known of. That tells whether one is ordinary: whether it
 * leaves its return address alone, and leaves by it.
 */
#ifndef PROFTRACE_CODE_PLAIN_H
#define PROFTRACE_CODE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "code/code.h"

/*
 * Follows the stack pointer through a whole function, which code_decode() has decoded into *code,
 * with the edges in *flow. Returns true if at each instruction it is known how far below the return
 * address the stack pointer is, the return address is neither read nor written nor pointed at, all
 * ways out lead out with the stack as it was at the entry, it makes no system call, and all of its
 * bytes are such code or padding. False as well without memory.
 */
bool plain__function(const struct code_piece *pieces, size_t cnt, const struct code *code,
		     const struct code_flow *flow);

#endif
