/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the functions that are the same in two profiles, though the program may have been built
 * anew, moved or renamed in between. */
#ifndef PROFTRACE_DIFF_SAME_FUNCTIONS_H
#define PROFTRACE_DIFF_SAME_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct profile;

#define NO_FUNCTION UINT32_MAX

/* A function of the one, of the other, or of both. */
struct function_pair {
	uint32_t of[2]; /* its index there, or NO_FUNCTION */
};

/* *out = all functions of both, each once, in the order of the second profile, then of the first.
 * Returns 0 or -ENOMEM. The caller frees *out. Time: n log n. */
int function_pairs__new(const struct profile *const profiles[2], struct function_pair **out,
			size_t *cnt);

#endif
