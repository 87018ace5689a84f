// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/callers.h"
#include "budget/budget.h"
#include "budget/controller.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "run/run.h"
#include "sample/sampler.h"
#include "sample/shares.h"
#include "target/target.h"
#include "util/log.h"

struct samples {
	struct sampler *sampler;
	struct shares *shares; /* NULL: a program of ours takes them */
	uint32_t hz;
	bool on_paths;
	bool bare; /* a program takes them as well, to tell what probes cost */
	uint64_t paced_ns, paced_cnt, paced_cpu_ns; /* when the rate was chosen */
};

struct taking {
	struct samples *s;
	const struct run *r;
};

static void explain(int err)
{
	const char *why = err == -EACCES || err == -EPERM
				  ? "; kernel.perf_event_paranoid, or a sandbox, is why"
				  : "";

	log_warn("no samples of CPU time: the kernel refuses its clock (%s%s); what is spent "
		 "outside traced functions will not be shown",
		 strerror(-err), why);
}

void samples__new(const struct options *o, struct samples **out)
{
	struct samples *s;
	int err;

	*out = NULL;
	if (o->no_samples || (o->exec && !o->chosen))
		return;
	s = calloc(1, sizeof(*s));
	if (s)
		s->hz = o->sample_rate ? o->sample_rate : SAMPLE_RATE_DEFAULT;
	err = s ? sampler__new(s->hz, &s->sampler) : -ENOMEM;
	if (err) {
		explain(err);
		samples__free(s);
		return;
	}
	s->on_paths = o->sample_rate;
	s->bare = !s->on_paths && !o->calls && !o->interval_ns && !o->raw;
	*out = s;
}

uint32_t samples__path_rate(const struct samples *s)
{
	return s && s->on_paths ? s->hz : 0;
}

uint32_t samples__rate(const struct samples *s)
{
	return s && (s->on_paths || s->bare) ? s->hz : 0;
}

int samples__bind(struct samples *s, const struct tracer *tr)
{
	int program = tracer__sample_program(tr);
	int err = program < 0 ? program : sampler__call(s->sampler, program);

	s->on_paths &= !err;
	s->bare &= !err;
	return err;
}

static int start_shares(struct samples *s, const struct run *r)
{
	int err = shares__new(r->plan, r->target, r->tracer, &s->shares);

	return err ? err : sampler__keep(s->sampler);
}

void samples__start(struct samples *s, const struct run *r)
{
	int err = !s || s->on_paths ? 0 : start_shares(s, r);

	if (err)
		explain(err);
	else if (s)
		sampler__start(s->sampler);
}

void samples__stop(struct samples *s, const struct run *r)
{
	samples__take(s, r);
	if (s)
		sampler__stop(s->sampler);
}

void samples__free(struct samples *s)
{
	if (!s)
		return;
	sampler__free(s->sampler);
	shares__free(s->shares);
	free(s);
}

static void take(const struct sample *sample, void *ctx)
{
	const struct taking *t = ctx;

	if (!t->r->pause.off && controller__watches(t->r->controller, sample->pid))
		shares__add(t->s->shares, sample);
}

void samples__take(struct samples *s, const struct run *r)
{
	struct taking t = {.s = s, .r = r};

	if (!s || !s->shares)
		return;
	shares__round(s->shares);
	sampler__read(s->sampler, take, &t);
}

#define PACED_MIN 64 /* samples; fewer may have met others at work */

void samples__pace(struct samples *s, struct run *r)
{
	double limit = r->o->max_overhead / 100 * BUDGET_SAMPLES, cost, whole;
	uint64_t cpu_ns = controller__cpu_ns(r->controller);
	struct samples_so_far now;

	if (!samples__path_rate(s) || !(limit > 0))
		return;
	now = collector__samples(r->collector);
	cost = (double)(now.ns - s->paced_ns);
	whole = (double)(cpu_ns - s->paced_cpu_ns);
	if (now.taken - s->paced_cnt < PACED_MIN || cost <= limit * whole)
		return;
	s->hz = (uint32_t)(s->hz * limit * whole / cost);
	s->hz += !s->hz;
	log_debug("samples cost %.2f %% of the CPU time: %u a second from here on",
		  100 * cost / whole, s->hz);
	sampler__set_rate(s->sampler, s->hz);
	collector__set_sample_period(r->collector, 1000000000 / s->hz, s->bare);
	s->paced_ns = now.ns;
	s->paced_cnt = now.taken;
	s->paced_cpu_ns = cpu_ns;
}

int samples__apply(const struct samples *s, struct profile *p)
{
	return s && s->shares ? shares__apply(s->shares, p) : 0;
}
