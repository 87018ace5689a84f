/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a function is ordinary, by its code: whether it leaves its return address alone, and
 * leaves by it. No other bears a return probe, which puts another address in its place.
 */
#ifndef PROFTRACE_EXITS_RETURN_SAFETY_H
#define PROFTRACE_EXITS_RETURN_SAFETY_H

#include <stdbool.h>
#include <stddef.h>

#include "code/code.h"

struct arch;
struct landing_pads;

struct return_safety {
	const char *doubt; /* what speaks against a return probe; NULL: nothing */
	bool calls_system;
	/* The function accesses the stack above its return address: arguments, or its callers'
	 * frames. */
	bool reaches_up;
};

/* A whole function that code_decode() has decoded; all borrowed. */
struct plain_function {
	const struct code_piece *pieces;
	size_t pieces_cnt;
	const struct code *code;
	const struct code_flow *flow;	 /* with edges */
	const struct landing_pads *pads; /* landing pads; NULL: none */
};

/*
 * Follows the stack pointer through a whole function. There is no doubt about it
 * if at each instruction it is known how far below the return address the stack pointer is, the
 * return address is neither read nor written nor pointed at, all ways out lead out with the stack
 * as it was at the entry, its caller's frame pointer is only put aside, and all of its bytes are
 * such code or padding. What is not seen are addresses that have been in memory, and indexes:
 * arrays in the frame are taken to be used within their bounds. Without memory there is doubt.
 */
void return_safety__look(const struct arch *arch, const struct plain_function *f,
			 struct return_safety *out);

#endif
