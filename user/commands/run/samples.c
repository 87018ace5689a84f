// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "budget/controller.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "run/run.h"
#include "sample/sampler.h"
#include "sample/shares.h"
#include "target/target.h"
#include "util/log.h"

/* A prime, so that samples do not keep step with what the target does every 10 or 100 ms. */
#define SAMPLES_HZ 97

struct samples {
	struct sampler *sampler;
	struct shares *shares;
};

struct taking {
	struct samples *s;
	const struct run *r;
};

static void explain(int err)
{
	log_warn("no samples of CPU time: the kernel refuses its clock (%s); what is spent outside "
		 "traced functions will not be shown",
		 strerror(-err));
}

void samples__new(const struct options *o, struct samples **out)
{
	struct samples *s;
	int err;

	*out = NULL;
	if (o->no_samples || (o->exec && !o->pids_cnt))
		return;
	s = calloc(1, sizeof(*s));
	err = s ? sampler__new(SAMPLES_HZ, &s->sampler) : -ENOMEM;
	if (err) {
		explain(err);
		samples__free(s);
		return;
	}
	*out = s;
}

void samples__start(struct samples *s, const struct run *r)
{
	int err;

	if (!s)
		return;
	err = shares__new(r->plan, r->target, r->tracer, &s->shares);
	if (err)
		explain(err);
	else
		sampler__start(s->sampler);
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

int samples__apply(const struct samples *s, struct profile *p)
{
	return s && s->shares ? shares__apply(s->shares, p) : 0;
}
