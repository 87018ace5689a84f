/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time of calls on goroutines' stacks, as far as samples bear it out. */
#ifndef PROFTRACE_SAMPLE_GOROUTINE_TIME_H
#define PROFTRACE_SAMPLE_GOROUTINE_TIME_H

#include <stdint.h>

struct profile;

/*
 * Samples of goroutines stand below their threads, so nothing is shared out between them and the
 * calls on the goroutines' stacks. A call whose end was not seen (of runtime.gopark(), when its
 * probes went while goroutines were parked; of runtime.goexit1(), which never returns) stays open
 * there, and has the CPU time of whatever its goroutine does next. But the unwound stacks of
 * samples tell that it is not open any more. So a function's calls on goroutines' stacks keep
 * MOST_FIT times what the samples below the function stand for, and a sample more, as few are met
 * by chance. The rest becomes time off the CPU. Returns 0 or -ENOMEM.
 *
 * `cpu_ns`: the target's CPU time, which all samples together stand for; 0: not known.
 */
int goroutine_time__bound(struct profile *p, uint64_t cpu_ns);

#endif
