// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/pause.h"

#include <unistd.h>

#include "attach/tracer.h"
#include "budget/controller.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "run/run.h"
#include "util/clock.h"
#include "util/log.h"

#define PATIENCE_NS 1000000000ull /* with the probes in; attaching 30,000 functions takes 0.1 s */

/* Seconds since the start. */
static double at(const struct run *r, uint64_t ns)
{
	return (double)(ns - r->start_ns) / 1e9;
}

/* The gate is closed already. */
void pause__start(struct run *r)
{
	const struct options *o = r->o;

	controller__start(r->controller, r->start_ns);
	if (!o->paused && !o->skip_ns) {
		tracer__open_gate(r->tracer);
		if (!o->command) /* which has not begun */
			tracer__find_asleep(r->tracer);
		return;
	}
	r->pause = (struct pause){.off = true, .since_ns = r->start_ns};
	controller__off(r->controller, r->start_ns);
	if (o->skip_ns)
		log_info("switched off for the first %.3f s", (double)o->skip_ns / 1e9);
	else
		log_info("switched off: SIGUSR1 to PID %d switches on", getpid());
}

/* Silently. */
static int stop(struct run *r)
{
	struct pause *s = &r->pause;
	int err = tracer__switch_off(r->tracer, &s->since_ns);

	if (err)
		return err;
	s->off = true;
	collector__end_waits(r->collector, s->since_ns);
	controller__off(r->controller, s->since_ns);
	return 0;
}

static int switch_off(struct run *r)
{
	struct pause *s = &r->pause;
	int err = s->off ? 0 : stop(r);

	if (err)
		return err;
	s->rests = false;
	progress__clear(&r->progress);
	log_info("switched off at %.3f s", at(r, s->since_ns));
	return 0;
}

int pause__notice(struct run *r)
{
	return !r->pause.off && tracer__stopped_ns(r->tracer) ? switch_off(r) : 0;
}

/* Silently; *at_ns = when. */
static int go_on(struct run *r, uint64_t *at_ns)
{
	struct pause *s = &r->pause;
	int err = s->suspended ? tracer__resume(r->tracer, r->plan, r->target) : 0;

	if (err)
		return err;
	/* The generation of the probes comes again some day, and a thread may have hit nothing
	 * meanwhile: of 65 to 127 times that they were taken out and put in its next call would be
	 * another probe's. */
	collector__forget_hits(r->collector);
	*at_ns = now_ns();
	s->suspended = s->off = s->rests = false;
	s->paused_ns += *at_ns - s->since_ns;
	controller__on(r->controller, *at_ns);
	tracer__open_gate(r->tracer);
	return 0;
}

static int switch_on(struct run *r)
{
	uint64_t now;
	int err;

	if (!r->pause.off)
		return 0;
	progress__clear(&r->progress);
	err = go_on(r, &now);
	if (err)
		return err;
	tracer__find_asleep(r->tracer);
	log_info("switched on at %.3f s", at(r, now));
	return 0;
}

int pause__rest(struct run *r)
{
	struct pause *s = &r->pause;
	int err;

	if (s->off)
		return 0;
	err = stop(r);
	if (!err)
		err = tracer__rest(r->tracer);
	s->rests = s->suspended = !err;
	return err;
}

int pause__wake(struct run *r)
{
	uint64_t now;

	return r->pause.rests ? go_on(r, &now) : 0;
}

int pause__toggle(struct run *r)
{
	r->pause.by_hand = true;
	return r->pause.off && !r->pause.rests ? switch_on(r) : switch_off(r);
}

int pause__skipped(struct run *r)
{
	return r->pause.by_hand ? 0 : switch_on(r);
}

int pause__tick(struct run *r, uint64_t now_ns)
{
	struct pause *s = &r->pause;
	int err;

	if (!s->off || s->suspended || now_ns < s->since_ns + PATIENCE_NS)
		return 0;
	err = tracer__suspend(r->tracer);
	if (err)
		return err;
	s->suspended = true;
	progress__clear(&r->progress);
	log_info("the probes are taken out meanwhile");
	return 0;
}

uint64_t pause__paused_ns(const struct pause *s, uint64_t until_ns)
{
	uint64_t now = s->off && until_ns > s->since_ns ? until_ns - s->since_ns : 0;

	return s->paused_ns + now;
}
