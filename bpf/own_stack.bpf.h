/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a program on the stack of the thread that it runs for.
 *
 * From Linux 6.13 on the kernel may give a function of a program a stack of its own on each CPU,
 * the same one at each run. It takes for granted that a program which runs on a CPU is not begun
 * there anew, and skips it if it is. Programs at uprobes, raw tracepoints under test and others can
 * be preempted, and at uprobes they are not skipped: then another thread runs the program on that
 * stack, and the first goes on with what is left there.
 *
 * No program with a tail call gets such a stack (check_max_stack_depth() in kernel/bpf/verifier.c).
 * So each program has one, to a place that is empty, under a condition that never holds, of which
 * the kernel does not know that. Each has a table of places of its own, as all programs of one
 * table must be of one type, and from 6.18 on be attached in one way. scripts/bpf-stack checks
 * both: that each program has a tail call, and that it needs no more stack than there is.
 */
#ifndef PROFTRACE_OWN_STACK_BPF_H
#define PROFTRACE_OWN_STACK_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

bool tail_calls_made = false; /* never */

/* In front of a program, once for each. */
#define OWN_STACK(PROGRAM)                             \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY); \
		__uint(max_entries, 1);                \
		__type(key, u32);                      \
		__type(value, u32);                    \
	} tail_of_##PROGRAM SEC(".maps")

/* At its begin. */
#define KEEP_OWN_STACK(PROGRAM, CTX)                               \
	do {                                                       \
		if (tail_calls_made)                               \
			bpf_tail_call(CTX, &tail_of_##PROGRAM, 0); \
	} while (0)

#endif
