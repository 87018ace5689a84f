/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether something may be pushed in the midst of a function. The kernel makes a call of a 5-byte
 * nop that is probed (6.18), which writes the eight bytes below the stack pointer; and there a
 * function that calls no other may keep variables: in its red zone, of 128 bytes.
 */
#ifndef PROFTRACE_CODE_RED_ZONE_H
#define PROFTRACE_CODE_RED_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;

struct red_zone_proof {
	bool unused;
	const char *reason; /* either way; static */
};

/*
 * Looks at the machine code of a whole function; `split` if parts of it lie elsewhere.
 * The red zone is not used for certain, if
 * - the function calls another one: compilers give a red zone to leaves alone. Calls of profiling
 *   hooks (mcount), before anything else has been done, say nothing;
 * - or all of its code can be decoded, and nothing reads or writes below the stack pointer: no
 *   address is made of the stack pointer but by pushes, pops and non-negative distances.
 */
struct red_zone_proof red_zone__prove(const struct arch *arch, const uint8_t *code, size_t size,
				      bool split);

#endif
