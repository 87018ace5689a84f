/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thread-local variables that values are read from. */
#ifndef PROFTRACE_PLAN_THREAD_LOCALS_H
#define PROFTRACE_PLAN_THREAD_LOCALS_H

struct plan;
struct plan_options;

/* Looks whether any of the plan's objects publishes OpenTelemetry's thread context, where sessions
 * shall have ids by it. If none does, and no new programs are expected, these values are wanted no
 * more: the programs that read values can stay out of the kernel. */
void thread_locals__look(const struct plan *p, const struct plan_options *opts);

#endif
