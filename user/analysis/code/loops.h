/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops in a function that code_decode() has decoded: which instructions may run more than once in
 * a call. */
#ifndef PROFTRACE_CODE_LOOPS_H
#define PROFTRACE_CODE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_flow;
struct code_piece;
struct loops;

int loops__new(struct loops **out); /* 0 or -ENOMEM */
void loops__free(struct loops *l);  /* accepts NULL */

/* The function that is asked about from now on; all is borrowed, edges must have been noted. */
void loops__look_at(struct loops *l, const struct code_piece *pieces, size_t cnt,
		    const struct code_flow *flow);

/* Whether control may come from the instruction at `vaddr` to it again, without leaving the
 * function. True as well if there was no memory, or if more than a few dozen have been asked for in
 * functions that jump back a lot. */
bool loops__may_hold(struct loops *l, uint64_t vaddr);

#endif
