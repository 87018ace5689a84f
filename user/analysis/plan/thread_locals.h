/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thread-local variables that values are read from. */
#ifndef PROFTRACE_PLAN_THREAD_LOCALS_H
#define PROFTRACE_PLAN_THREAD_LOCALS_H

#include <stdint.h>

#include "select/thread_values.h"

struct plan;
struct plan_options;
struct target;

/* Thread-local variables that functions and regions of one object name. Points to itself: not to be
 * copied. */
struct thread_locals {
	struct thread_values values;
	const struct plan *plan;
	const struct target *target;
	uint32_t object;
};

void thread_locals__init(struct thread_locals *l, const struct plan *p, const struct target *t,
			 uint32_t object);

/* Looks whether any of the plan's objects publishes OpenTelemetry's thread context, where sessions
 * shall have ids by it. If none does, and no new programs are expected, these values are wanted no
 * more: the programs that read values can stay out of the kernel. */
void thread_locals__look(const struct plan *p, const struct plan_options *opts);

#endif
