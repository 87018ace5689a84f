/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that no range of .eh_frame covers, by the calls that lead to them. Inside unwind/ only.
 */
#ifndef PROFTRACE_UNWIND_EH_CALLS_H
#define PROFTRACE_UNWIND_EH_CALLS_H

#include <stdint.h>

struct eh_evidence;

/* Returns 0, or what ends the search. */
typedef int (*eh_call_visitor)(void *ctx, uint64_t vaddr, uint64_t size);

/*
 * Follows the calls in ev->outside, and what the program's entry hands to the C library (its main
 * function), from function to function. Visits each one once. Returns 0, -ENOMEM or what the
 * visitor has returned.
 */
int eh_calls__follow(struct eh_evidence *ev, eh_call_visitor visit, void *ctx);

#endif
