/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells which functions of the plan a function's own code calls, as far as its instructions name
 * them. */
#ifndef PROFTRACE_PLANNER_DIRECT_CALLS_H
#define PROFTRACE_PLANNER_DIRECT_CALLS_H

#include <stdint.h>

struct plan;
struct target;

/* *out = their numbers, in order and each once, itself not among them; the caller frees it. By
 * calls and jumps within its file, as that is on the disk: what is called through pointers, or is
 * another file's, is not found, nor what only a function's other pieces call. Returns how many they
 * are, 0 also where the code cannot be read, or -ENOMEM. */
int64_t direct_calls__of(const struct plan *p, const struct target *t, uint32_t function,
			 uint32_t **out);

#endif
