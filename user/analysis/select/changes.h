/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments that the first instructions of a function overwrite. */
#ifndef PROFTRACE_SELECT_CHANGES_H
#define PROFTRACE_SELECT_CHANGES_H

#include <stddef.h>
#include <stdint.h>

struct arch;

/*
 * The registers that instructions before `offset` overwrite, straight from the start: a bit for
 * each register of an argument, and ARGUMENTS_NEED_MEMORY, as in argument_list__needs(). Memory:
 * anything but what is pushed, or called. All bits if they cannot be decoded. Implied operands are
 * included.
 */
uint32_t changes__before(const struct arch *arch, const uint8_t *code, size_t size,
			 uint32_t offset);

#endif
