// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/thread_locals.h"

#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "select/thread_context.h"
#include "symbol/thread_variable.h"
#include "util/otel_context.h"

void thread_locals__look(const struct plan *p, const struct plan_options *opts)
{
	struct thread_variable v;

	if (!opts->arguments || opts->new_programs || !thread_context__is_wanted(opts->arguments))
		return;
	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (p->objects[i].img && thread_variable__find(p->objects[i].img, OTEL_CONTEXT, &v))
			return;
	}
	thread_context__forget(opts->arguments);
}
