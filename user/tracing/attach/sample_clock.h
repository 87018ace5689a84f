/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A clock on each CPU (a perf event) that has the program of bpf/samples.bpf.h look at the thread
 * that runs there. The clocks go with their descriptors, however the profiler ends.
 */
#ifndef PROFTRACE_ATTACH_SAMPLE_CLOCK_H
#define PROFTRACE_ATTACH_SAMPLE_CLOCK_H

#include <stdint.h>

struct sample_clock;
struct tracer;

/* Opens a clock of `hz` looks a second on each CPU that is online, which stands still as yet. Takes
 * CAP_PERFMON, and CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2, as Debian has it.
 * Returns 0 or -errno, silently. */
int sample_clock__new(uint32_t hz, struct sample_clock **out);
/* Has the tracer's program called when a clock runs out. Returns 0 or -errno, silently: -ENOTSUP if
 * it has none (struct tracer_options). */
int sample_clock__bind(struct sample_clock *c, const struct tracer *tr);

/* These two accept NULL. When the second returns, no look is under way. */
void sample_clock__start(struct sample_clock *c);
void sample_clock__stop(struct sample_clock *c);
void sample_clock__free(struct sample_clock *c); /* accepts NULL */

#endif
