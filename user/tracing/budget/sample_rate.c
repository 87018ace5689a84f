// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/sample_rate.h"

#include <math.h>
#include <stdbool.h>

#include "budget/budget.h"

#define NS_IN_SECOND 1e9
/* The most samples of a busy thread in a second: 997 tell the time of a function that takes 1 s to
 * 3 %; four times as many would be needed for half of that. */
#define MOST_HZ 997
/* The most samples of all CPUs in a second: each idle CPU wakes up for its clock as well, and we
 * name what was met. */
#define MOST_OF_ALL 4000

static uint32_t least_of(double x, double y)
{
	return (uint32_t)fmin(x, y);
}

uint32_t sample_rate__most(uint32_t least_hz, uint32_t cpus)
{
	uint32_t most = least_of(MOST_HZ, (double)MOST_OF_ALL / (cpus ? cpus : 1));

	return most > least_hz ? most : least_hz;
}

static bool is_prime(uint32_t n)
{
	for (uint32_t i = 2; i * i <= n; i++) {
		if (n % i == 0)
			return false;
	}
	return true;
}

uint32_t sample_rate__afford(const struct sample_budget *b)
{
	uint32_t most = sample_rate__most(b->least_hz, b->cpus), hz;
	double sample_ns = (double)b->program_ns + (double)b->interrupt_ns;
	double affordable =
		sample_ns > 0 ? b->limit * BUDGET_ALL_SAMPLES * NS_IN_SECOND / sample_ns : most;

	hz = least_of(fmax(b->least_hz, affordable), most);
	if (b->program_ns)
		hz = least_of(hz, b->limit * BUDGET_SAMPLES * NS_IN_SECOND / (double)b->program_ns);
	while (hz > 1 && !is_prime(hz))
		hz--;
	return hz ? hz : 1;
}

#define COST_MIN  64   /* samples; fewer may have met others at work */
#define SAME_RATE 0.25 /* so near to one another are two rates as good as the same */

uint32_t sample_rate__next(uint32_t hz, const struct sample_budget *b, const struct samples_cost *c)
{
	struct sample_budget now = *b;
	uint32_t next;

	if (c->cnt < COST_MIN)
		return hz;
	now.program_ns = c->ns / c->cnt;
	next = sample_rate__afford(&now);
	return fabs((double)next / hz - 1) > SAME_RATE ? next : hz;
}

uint32_t sample_rate__lowered(uint32_t hz, double limit, const struct samples_cost *c)
{
	double may_ns = limit * BUDGET_SAMPLES * (double)c->cpu_ns, lowered;

	if (c->cnt < COST_MIN || (double)c->ns <= may_ns)
		return hz;
	lowered = hz * may_ns / (double)c->ns;
	return lowered < 1 ? 1 : (uint32_t)lowered;
}
