// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/goroutine_time.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "sample/cpu_shares.h"
#include "tables/stack_copy.h"

/* Of all calls of a function. */
struct function_time {
	double cpu_ns;	  /* of their own */
	uint64_t samples; /* whose innermost call was one of them */
};

bool goroutine_time__applies(const struct stack_copy *copy, bool go_traced)
{
	return !copy->spans && copy->callstack_ns != SAMPLED_OUTSIDE &&
	       (copy->goroutine || (go_traced && copy->callstack_ns));
}

static void add_copy(const struct stack_copy *copy, uint32_t functions_cnt,
		     struct function_time *times)
{
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];
		uint64_t not_cpu_ns = n->off_ns + n->probe_ns;

		if (n->function < functions_cnt && n->self_ns > not_cpu_ns)
			times[n->function].cpu_ns += (double)(n->self_ns - not_cpu_ns);
	}
	for (uint32_t i = 0; i < copy->samples_cnt; i++) {
		const struct stack_copy_sample *s = &copy->samples[i];

		if (s->base < copy->nodes_cnt && copy->nodes[s->base].function < functions_cnt)
			times[copy->nodes[s->base].function].samples += s->cnt;
	}
}

static double over_of(const struct function_time *t, uint64_t sample_ns)
{
	double most_ns = (double)(MOST_FIT * t->samples + 1) * (double)sample_ns;

	return t->cpu_ns > most_ns ? 1 - most_ns / t->cpu_ns : 0;
}

int goroutine_time__measure(const struct stack_copy *const *copies, size_t copies_cnt,
			    const struct goroutine_known *known, double **out)
{
	struct function_time *times;
	bool any = false, tells = false;

	*out = NULL;
	for (size_t i = 0; i < copies_cnt; i++) {
		any |= goroutine_time__applies(copies[i], known->go_traced);
		tells |= copies[i]->samples_cnt;
	}
	if (!any || !tells)
		return 0;
	times = calloc(known->functions_cnt + 1, sizeof(*times));
	*out = calloc(known->functions_cnt + 1, sizeof(**out));
	if (!times || !*out) {
		free(times);
		free(*out);
		*out = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < copies_cnt; i++) {
		if (goroutine_time__applies(copies[i], known->go_traced))
			add_copy(copies[i], known->functions_cnt, times);
	}
	for (uint32_t f = 0; f < known->functions_cnt; f++)
		(*out)[f] = over_of(&times[f], known->sample_ns);
	free(times);
	return 0;
}
