// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/slo/slo_duty.h"

#include "budget/controller.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "run/pause.h"
#include "run/roles.h"
#include "run/run.h"
#include "run/progress.h"
#include "slo/windows.h"
#include "util/log.h"

#define SHARE	     0.007 /* of the target's own CPU time, that watching may cost */
#define SHARE_TOLD   0.01
#define SPARED	     0.002 /* of a processor: less is nobody's concern */
#define LEAST_NS     100000000ull
#define LIMITS	     20 /* a call of the limit's length is seen whole in all but one in so many */
#define LEAST_CPU_NS 20000000ull /* less says too little: clocks go in steps of 4 ms */

/* Computes the values that depend on the rules alone. */
static void prepare(struct run *r, struct slo_duty *d)
{
	const struct options *o = r->o;
	uint64_t limit_ns = 0;

	for (size_t rule = 0; rule < o->slos_cnt; rule++) {
		limit_ns = o->slos[rule].limit > limit_ns ? o->slos[rule].limit : limit_ns;
		for (size_t i = 0; i < r->plan->functions_cnt; i++) {
			double ns = roles__is_named(r, i, o->slos[rule].glob)
					    ? controller__call_ns(r->controller, i)
					    : 0;

			d->call_ns = ns > d->call_ns ? ns : d->call_ns;
		}
	}
	d->least_ns = limit_ns < o->slo_window_ns / LIMITS ? LIMITS * limit_ns : o->slo_window_ns;
	if (d->least_ns < LEAST_NS)
		d->least_ns = LEAST_NS;
}

static void begin(struct run *r, struct slo_duty *d, uint64_t now_ns)
{
	d->since_ns = now_ns;
	d->calls = collector__calls(r->collector);
	d->cpu_ns = controller__cpu_ns(r->controller);
}

/* The probes were in for `on_ns` and have shown enough: takes them out for as long as it needs. */
static int rest(struct run *r, struct slo_duty *d, uint64_t on_ns, uint64_t now_ns)
{
	const uint64_t most_ns = SLO_STRETCH * r->o->slo_window_ns;

	if (d->share <= SHARE)
		return 0;
	d->rest_ns = (uint64_t)((double)on_ns * (d->share / SHARE - 1));
	if (d->rest_ns > most_ns)
		d->rest_ns = most_ns;
	if (!d->told) {
		double share = d->share * (double)on_ns / (double)(on_ns + d->rest_ns);

		progress__clear(&r->progress);
		log_info("watching would cost %.1f %%: it is done for %.2g s in each %.2g s",
			 100 * d->share, (double)on_ns / 1e9, (double)(on_ns + d->rest_ns) / 1e9);
		if (share > SHARE_TOLD)
			log_warn(
				"even so it costs %.1f %% of the target's CPU time: functions that "
				"are called less often are watched for less",
				100 * share);
	}
	d->told = true;
	d->since_ns = now_ns;
	return pause__rest(r);
}

int slo_duty__tick(struct run *r, struct slo_duty *d, bool needed, uint64_t now_ns)
{
	uint64_t cpu_ns, on_ns = now_ns - d->since_ns;
	double cost_ns;
	int err;

	if (!d->call_ns)
		prepare(r, d);
	if (r->pause.rests) {
		if (!needed && now_ns - d->since_ns < d->rest_ns)
			return 0;
		err = pause__wake(r);
		begin(r, d, now_ns);
		return err;
	}
	if (needed || r->pause.off || !d->since_ns) {
		begin(r, d, now_ns);
		return 0;
	}
	cpu_ns = controller__cpu_ns(r->controller) - d->cpu_ns;
	if (on_ns < d->least_ns || (cpu_ns < LEAST_CPU_NS && on_ns < r->o->slo_window_ns))
		return 0;
	cost_ns = (double)(collector__calls(r->collector) - d->calls) * d->call_ns;
	if ((double)cpu_ns > cost_ns)
		d->share = cost_ns / ((double)cpu_ns - cost_ns);
	begin(r, d, now_ns);
	return cost_ns < SPARED * (double)on_ns ? 0 : rest(r, d, on_ns, now_ns);
}
