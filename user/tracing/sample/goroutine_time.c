// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/goroutine_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "sample/cpu_shares.h"

struct function_time {
	double cpu_ns;	  /* of its calls on goroutines' stacks */
	uint64_t samples; /* that met it or what it had called */
	size_t counted;	  /* the node whose samples were the last to be added */
};

/* Adds a path's samples to each of its functions, once to one that calls itself. */
static void add_samples(const struct profile *p, size_t node, struct function_time *times)
{
	for (size_t i = node; i; i = p->nodes[i].parent) {
		struct function_time *t = &times[p->nodes[i].function];

		if (t->counted != node)
			t->samples += p->nodes[node].stats.samples;
		t->counted = node;
	}
}

/* Returns how many samples there are. */
static uint64_t sum_times(const struct profile *p, struct function_time *times)
{
	uint64_t samples = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];

		if (p->threads[n->thread].goroutine && !p->threads[n->thread].spans)
			times[n->function].cpu_ns += (double)stats__cpu_self_ns(&n->stats);
		if (n->stats.samples && !p->threads[n->thread].spans)
			add_samples(p, i, times);
		samples += p->threads[n->thread].spans ? 0 : n->stats.samples;
	}
	return samples;
}

/* The part of a function's time that samples do not bear out. */
static double over_of(const struct function_time *t, double sample_ns)
{
	double most_ns = (MOST_FIT * (double)t->samples + 1) * sample_ns;

	return t->cpu_ns > most_ns ? 1 - most_ns / t->cpu_ns : 0;
}

static int take_over(struct profile *p, const struct function_time *times, double sample_ns)
{
	uint64_t *taken = calloc(p->nodes_cnt, sizeof(*taken));

	for (size_t i = p->nodes_cnt; taken && i-- > 1;) {
		const struct profile_node *n = &p->nodes[i];

		if (p->threads[n->thread].goroutine && !p->threads[n->thread].spans)
			take_cpu_ns(p, i,
				    (uint64_t)((double)stats__cpu_self_ns(&n->stats) *
					       over_of(&times[n->function], sample_ns)),
				    taken);
	}
	free(taken);
	return taken ? 0 : -ENOMEM;
}

int goroutine_time__bound(struct profile *p, uint64_t cpu_ns)
{
	struct function_time *times;
	uint32_t functions_cnt = 0;
	bool any = false;
	uint64_t samples;
	int err = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		any |= p->threads[p->nodes[i].thread].goroutine;
		if (functions_cnt <= p->nodes[i].function)
			functions_cnt = p->nodes[i].function + 1;
	}
	if (!any || !cpu_ns)
		return 0;
	times = calloc(functions_cnt, sizeof(*times));
	if (!times)
		return -ENOMEM;
	samples = sum_times(p, times);
	if (samples)
		err = take_over(p, times, (double)cpu_ns / (double)samples);
	free(times);
	return err;
}
