/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time of calls in Go programs, as far as samples bear it out. */
#ifndef PROFTRACE_SAMPLE_GOROUTINE_TIME_H
#define PROFTRACE_SAMPLE_GOROUTINE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_copy;

/* Whether a part is of stacks that Go switches: a goroutine's, or, where a Go program is traced,
 * one that a thread has beside its own. */
bool goroutine_time__applies(const struct stack_copy *copy, bool go_traced);

/* The measure of the parts. */
struct goroutine_known {
	uint32_t functions_cnt;
	uint64_t sample_ns; /* CPU time of a sample */
	bool go_traced;
};

/*
 * Go switches stacks without an event. So a call that is open on a thread's system stack
 * (runtime.schedule(), which never returns) seems to have the CPU time of the goroutine that runs
 * next; and a call whose end was not seen (of runtime.gopark(), when its probes went while
 * goroutines were parked) that of whatever its goroutine does next. But samples hang on the call
 * that is the innermost one indeed.
 *
 * So a function's calls on such stacks keep MOST_FIT times what the samples stand for whose
 * innermost call was one of them, and a sample more, as few are met by chance. Example: with
 * samples of 10 ms, calls that had 1 s and were met twice keep 50 ms. The rest becomes time off
 * the CPU. *out = by function, the part of their own CPU time that they lose,
 * 0 to 1; the caller frees it. NULL: there are no such stacks, or no samples. Returns 0 or -ENOMEM.
 */
int goroutine_time__measure(const struct stack_copy *const *copies, size_t copies_cnt,
			    const struct goroutine_known *known, double **out);

#endif
