/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where calls go on that leave their function by a jump (a tail call), as in
 *
 *	int handle(struct request *r) { ...; return finish(r); }	handle: ... jmp finish
 *
 * A return probe of handle() sees finish() return. Probes at exits see but the jump: there the call
 * goes on in finish() if that one's calls are recorded.
 */
#ifndef PROFTRACE_PLANNER_TAIL_CALLS_H
#define PROFTRACE_PLANNER_TAIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct plan;

/* Marks the jumps of a function with probes at its exits, and of those it jumps to, that lead to
 * functions whose calls are recorded; before they are attached. Calls on_callee() once for each of
 * these, which must be recorded from then on. Returns 0, or what on_callee() returned below 0. */
int tail_calls__follow(struct plan *p, size_t function,
		       int (*on_callee)(void *ctx, size_t function), void *ctx);

/* Whether a call of the function may leave it by a jump behind which nothing is seen of the call:
 * one that is not marked, of a function with probes at its exits. */
bool tail_calls__end_unseen(const struct plan *p, size_t function);

#endif
