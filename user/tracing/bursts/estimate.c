// SPDX-License-Identifier: GPL-2.0-or-later
/* From looks to estimates: rates of dropped functions, and their calls since they were dropped. */
#include "bursts/bursts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bursts/counting.h"
#include "bursts/inside.h"
#include "collect/collector.h"
#include "plan/plan.h"

struct by_thread {
	struct bursts *b;
	uint32_t *members; /* by function: which it is, plus 1 */
};

static void note_thread(uint32_t function, uint64_t thread, uint64_t calls, void *ctx)
{
	const struct by_thread *t = ctx;
	uint32_t member = function < t->b->in.plan->functions_cnt ? t->members[function] : 0;

	if (member)
		t->b->members[member - 1]
			.threads[(thread * 0x9e3779b97f4a7c15ull >> 32) % RATES_THREADS] +=
			(double)calls;
}

/* Notes which threads call which functions. */
static int note_threads(struct bursts *b)
{
	struct by_thread t = {b, calloc(b->in.plan->functions_cnt + 1, sizeof(*t.members))};

	if (!t.members)
		return -ENOMEM;
	for (size_t i = 0; i < b->cnt; i++) {
		t.members[b->members[i].function] = i + 1;
		memset(b->members[i].threads, 0, sizeof(b->members[i].threads));
	}
	collector__burst_calls(b->in.collector, note_thread, &t);
	for (size_t i = 0; i < b->cnt; i++)
		rates__set_threads(b->rates, i, b->members[i].threads);
	free(t.members);
	return 0;
}

/* CPU time, reads and writes of the target since a function was dropped. */
static struct lengths lengths_since(const struct member *m, const struct moment *now)
{
	struct moment since = moment__minus(*now, &m->dropped);

	/* The cost of looks, which is taken off, may be more than the target has run since. */
	return (struct lengths){
		.cpu_ns = now->ran_ns > m->dropped.ran_ns ? (double)since.ran_ns : 0,
		.reads = (double)since.io.reads,
		.writes = (double)since.io.writes,
	};
}

int bursts__set_rates(struct bursts *b, struct calls_estimate **out)
{
	struct lengths *spans = calloc(b->cnt + 1, sizeof(*spans));
	struct rate *rates = calloc(b->cnt + 1, sizeof(*rates));
	struct calls_estimate *of = calloc(b->cnt + 1, sizeof(*of));
	struct moment now = bursts__own_moment(b);
	int err = spans && rates && of ? note_threads(b) : -ENOMEM;

	for (size_t i = 0; !err && i < b->cnt; i++)
		spans[i] = lengths_since(&b->members[i], &now);
	if (!err)
		err = rates__estimate(b->rates, spans, rates);
	for (size_t i = 0; !err && i < b->cnt; i++) {
		double calls = b->members[i].exact ? 0 : rates[i].per_ns * spans[i].cpu_ns;

		b->members[i].per_ns = rates[i].per_ns;
		b->members[i].by_io = rates[i].by_io;
		of[i] = (struct calls_estimate){calls, calls * calls * rates[i].variance,
						!b->members[i].exact && rates[i].guessed};
	}
	free(spans);
	free(rates);
	if (!err && out)
		*out = of;
	else
		free(of);
	return err;
}

static bool is_of_looks(const struct calls_estimate *e)
{
	return e->calls > 0 && !e->guessed;
}

/* The errors of one rate, taken twice, do not level out. */
static struct calls_estimate estimates_sum(const struct calls_estimate *a,
					   const struct calls_estimate *b)
{
	return (struct calls_estimate){
		.calls = a->calls + b->calls,
		.variance = a->variance + b->variance + 2 * sqrt(a->variance * b->variance),
		.guessed = (a->guessed || b->guessed) && !is_of_looks(a) && !is_of_looks(b),
	};
}

int bursts__remove(struct bursts *b, const uint32_t *functions, size_t cnt)
{
	struct calls_estimate *since = NULL;
	int err = b && b->cnt ? bursts__set_rates(b, &since) : 0;

	for (size_t i = 0; !err && i < cnt; i++) {
		struct member *m = bursts__member(b, functions[i]);

		if (!m || m->exact)
			continue;
		m->before = estimates_sum(&m->before, &since[m - b->members]);
		m->exact = true;
		b->dropped--;
	}
	free(since);
	return err;
}

int bursts__estimate(struct bursts *b)
{
	size_t functions_cnt = b ? b->in.plan->functions_cnt : 0;
	struct calls_estimate *of, *since = NULL;
	int err;

	if (!b || !b->cnt)
		return 0;
	of = calloc(functions_cnt + 1, sizeof(*of));
	err = of ? bursts__set_rates(b, &since) : -ENOMEM;
	for (size_t i = 0; !err && i < b->cnt; i++) {
		const struct member *m = &b->members[i];

		of[m->function] = estimates_sum(&m->before, &since[i]);
	}
	free(since);
	if (!err)
		err = collector__set_estimates(b->in.collector, of, functions_cnt);
	free(of);
	return err;
}
