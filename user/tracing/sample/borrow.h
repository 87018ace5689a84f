/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of other call stacks, for those that were too short to be met by any. */
#ifndef PROFTRACE_SAMPLE_BORROW_H
#define PROFTRACE_SAMPLE_BORROW_H

#include <stddef.h>

struct stack_copy;

/*
 * Of threads that live for 10 ms, as a pool makes or children of a server are, samples meet some
 * and miss others. What code without probes has taken in those that were missed passed for the own
 * time of the innermost call with probes. So such a call gets samples of what other call stacks
 * were met in below the same path, each in proportion; their `cnt` is 0, as nobody has taken them.
 *
 * Sets out[i] to a copy of copies[i] with them, which the caller frees. Where no call stack lacks
 * any, all of out[] are NULL; else none is. Returns 0 or -ENOMEM; then out[] holds nothing.
 */
int borrow__samples(const struct stack_copy *const *copies, size_t cnt, struct stack_copy **out);

#endif
