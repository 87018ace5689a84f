// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/callers.h"
#include "budget/controller.h"
#include "budget/sample_rate.h"
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
	uint32_t cpus;	       /* that the machine may have */
	uint32_t hz;
	bool on_paths;
	bool by_budget; /* as many are taken as that affords */
	uint64_t interrupt_ns;
	bool bare;		    /* a program takes them as well, to tell what probes cost */
	struct samples_cost before; /* when the rate was chosen */
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

/* Until some samples have told what our program takes. */
#define PROGRAM_NS 10000
/* An interrupt of a clock, where that cannot be measured. */
#define INTERRUPT_NS 20000
/* The interrupt takes so many times as much of a busy server as of the loop that measures it
 * (docs/internals/sample-rate.md): it finds the kernel's code and data out of the caches, and the
 * server does so with what it needs next. Where samples only tell what probes cost (-F alone) it
 * counts as measured. */
#define INTERRUPT_BUSY 3

/* The percentage that is taken as the limit where no limit was set. */
#define NO_LIMIT 5.0

/* The number of the machine's CPUs, which sysconf() reads from a file each time. */
static uint32_t cpus(void)
{
	long cnt = sysconf(_SC_NPROCESSORS_CONF);

	return cnt > 0 ? cnt : 1;
}

uint64_t samples__interrupt_ns(const struct samples *s)
{
	return s ? s->interrupt_ns * (s->on_paths ? INTERRUPT_BUSY : 1) : 0;
}

static struct sample_budget budget_of(const struct samples *s, const struct options *o)
{
	return (struct sample_budget){
		.limit = (o->max_overhead > 0 ? o->max_overhead : NO_LIMIT) / 100,
		.least_hz = SAMPLE_RATE_DEFAULT,
		.cpus = s->cpus,
		.program_ns = PROGRAM_NS,
		.interrupt_ns = samples__interrupt_ns(s),
	};
}

static void choose_rate(struct samples *s, const struct options *o)
{
	struct sample_budget b;

	s->hz = o->sample_rate ? o->sample_rate : SAMPLE_RATE_DEFAULT;
	s->by_budget = o->samples_by_budget && (s->on_paths || s->bare);
	if (!s->by_budget)
		return;
	s->interrupt_ns = sampler__interrupt_ns();
	log_debug("an interrupt of the clock of samples takes %" PRIu64 " ns", s->interrupt_ns);
	if (!s->interrupt_ns)
		s->interrupt_ns = INTERRUPT_NS;
	b = budget_of(s, o);
	s->hz = sample_rate__afford(&b);
}

void samples__new(const struct options *o, struct samples **out)
{
	struct samples *s;
	int err;

	*out = NULL;
	if (o->no_samples || (o->exec && !o->chosen))
		return;
	s = calloc(1, sizeof(*s));
	if (s) {
		s->cpus = cpus();
		s->on_paths = o->sample_rate;
		s->bare = !s->on_paths && !o->calls && !o->interval_ns && !o->raw;
		choose_rate(s, o);
	}
	err = s ? sampler__new(s->hz, &s->sampler) : -ENOMEM;
	if (err) {
		explain(err);
		samples__free(s);
		return;
	}
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

uint32_t samples__most_rate(const struct samples *s)
{
	return s && s->by_budget ? sample_rate__most(s->hz, s->cpus) : samples__rate(s);
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

void samples__pace(struct samples *s, struct run *r)
{
	struct samples_cost all = {.cpu_ns = controller__cpu_ns(r->controller)}, c;
	double limit = r->o->max_overhead / 100;
	struct samples_so_far so_far;
	struct sample_budget b;
	uint32_t hz;

	if (!samples__path_rate(s) || !(limit > 0))
		return;
	so_far = collector__samples(r->collector);
	all.ns = so_far.ns;
	all.cnt = so_far.taken;
	c = (struct samples_cost){all.ns - s->before.ns, all.cnt - s->before.cnt,
				  all.cpu_ns - s->before.cpu_ns};
	b = budget_of(s, r->o);
	hz = s->by_budget ? sample_rate__next(s->hz, &b, &c)
			  : sample_rate__lowered(s->hz, limit, &c);
	if (hz == s->hz)
		return;
	log_debug(
		"samples take %.2f %% of the CPU time, beside interrupts: %u a second from here on",
		100 * (double)c.ns / (double)c.cpu_ns, hz);
	s->hz = hz;
	sampler__set_rate(s->sampler, hz);
	collector__set_sample_period(r->collector, 1000000000 / hz, s->bare);
	s->before = all;
}

int samples__apply(const struct samples *s, struct profile *p)
{
	return s && s->shares ? shares__apply(s->shares, p) : 0;
}
