// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls of what is traced go into a file that forgets the oldest (recorder.h), from the
 * start on: so what came before is there when a rule is broken. A recording is a copy of that file,
 * made when all that is wanted is in it.
 */
#include "run/slo/slo_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "attach/tracer.h"
#include "budget/controller.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "recording/folder.h"
#include "recording/recorder.h"
#include "run/pause.h"
#include "run/progress.h"
#include "run/result.h"
#include "run/roles.h"
#include "run/run.h"
#include "run/slo/slo_duty.h"
#include "slo/explain.h"
#include "slo/machine.h"
#include "slo/on_slow.h"
#include "slo/windows.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

#define RECORDINGS_MAX 20   /* in the folder */
#define LEAST_LOAD     0.05 /* of a processor, for what is below */
#define NAME_SIZE      200

/* A broken rule that is looked into. */
struct incident {
	struct slo_pair pair;
	uint64_t value_ns, calls; /* of the first broken window */
	uint64_t from_ns;	  /* since the start: what is below is exact from then on */
};

struct slo_watch {
	struct slo_windows *windows;
	struct slo_machine machine;
	struct slo_duty duty;
	struct on_slow *on_slow; /* NULL: none is to be run */
	struct incident incident;
	struct explainer explainer;
	struct incident explained; /* the incident that the explainer looks at */
	char *path;		   /* the recording of that incident */
	size_t functions_cnt;	   /* of the plan, that have been looked at */
	uint64_t due_ns;	   /* when windows may end next */
	uint64_t recordings, passed;
};

int slo_watch__new(struct run *r)
{
	struct slo_watch *s = calloc(1, sizeof(*s));
	int err = s ? slo_windows__new(r->o->slos, r->o->slo_window_ns, &s->windows) : -ENOMEM;

	r->slo = s;
	if (!err && r->o->on_slow)
		err = on_slow__start(r->o->on_slow, ON_SLOW_MS, &s->on_slow);
	return err;
}

void slo_watch__free(struct slo_watch *s)
{
	if (!s)
		return;
	explain__cancel(&s->explainer);
	on_slow__free(s->on_slow);
	slo_windows__free(s->windows);
	free(s->path);
	free(s);
}

/* Whether all that is below is wanted. */
static bool is_looking(const struct slo_machine *m)
{
	return m->state == SLO_WATCHING || m->state == SLO_RECORDING;
}

int slo_watch__add(struct run *r, uint64_t now_ns)
{
	struct slo_watch *s = r->slo;
	const struct options *o = r->o;
	int err = 0;

	for (size_t i = s->functions_cnt; i < r->plan->functions_cnt; i++) {
		for (size_t rule = 0; !err && rule < o->slos_cnt; rule++) {
			if (!plan_function__has_probe(&r->plan->functions[i]) ||
			    !roles__is_named(r, i, o->slos[rule].glob))
				continue;
			err = slo_windows__add(s->windows, rule, i, now_ns);
			if (err == -E2BIG)
				log_error(
					"--slo '%s': no more than %d functions can be watched all "
					"the time; name fewer",
					o->slos[rule].text, SLO_FUNCTIONS_MAX);
		}
	}
	s->functions_cnt = r->plan->functions_cnt;
	/* Functions that have been loaded since wait for a closer look, too. */
	return err || is_looking(&s->machine) ? err : controller__hold(r->controller);
}

size_t slo_watch__functions(const struct slo_watch *s)
{
	const struct slo_pair *pairs;
	size_t cnt, different = 0;

	/* The pairs of one function stand side by side. */
	pairs = slo_windows__pairs(s->windows, &cnt);
	for (size_t i = 0; i < cnt; i++)
		different += !i || pairs[i].function != pairs[i - 1].function;
	return different;
}

/* "handle: p99 is 12.3 ms in 812 calls, not < 5ms" */
static void describe(const struct run *r, const struct incident *x, char *buf, size_t size)
{
	const struct assertion *rule = &r->o->slos[x->pair.rule];
	char name[NAME_SIZE], value[32], calls[32];
	const char *bound = strpbrk(strrchr(rule->text, ':'), "<");

	text_escape(plan__name(r->plan, x->pair.function), name, sizeof(name));
	snprintf(buf, size, "%s: %s is %s in %s call%s, not %s", name, measure__name(rule->measure),
		 text_duration(x->value_ns, value, sizeof(value)),
		 text_count(x->calls, calls, sizeof(calls)), x->calls == 1 ? "" : "s", bound);
}

/* The limit for exact probes during a closer look: the budget, and the cost of watching on top. */
static double limit_of(const struct run *r)
{
	double limit = r->o->max_overhead / 100;

	return limit ? limit + r->slo->duty.share : 0;
}

/* All that may be called below the functions: as far as the budget goes. */
static int choose_all(struct run *r, uint64_t at_ns)
{
	size_t cnt = r->plan->functions_cnt;
	uint32_t *functions = calloc(cnt + 1, sizeof(*functions));
	double limit = limit_of(r);
	int err = functions ? 0 : -ENOMEM;

	/* However little the target does, it may be a part of a processor. */
	controller__limit(r->controller, limit, LEAST_LOAD);
	for (size_t i = 0; !err && i < cnt; i++)
		functions[i] = i;
	if (!err)
		err = controller__choose(r->controller, functions, cnt,
					 limit ? CHOICE_LAST : CHOICE_FIRM, at_ns);
	free(functions);
	/* Functions whose probes cannot be put in are missing, no more. */
	return err == -ENOMEM ? err : 0;
}

/* Makes what is below the function exact. */
static int look_closer(struct run *r, uint64_t at_ns)
{
	struct incident *x = &r->slo->incident;
	char text[NAME_SIZE + 128];
	int err;

	describe(r, x, text, sizeof(text));
	progress__clear(&r->progress);
	log_info("%s: looking closer", text);
	err = pause__wake(r);
	tracer__keep_waits(r->tracer, true);
	if (!err)
		err = choose_all(r, at_ns);
	x->from_ns = now_ns() - r->start_ns;
	return err;
}

static int let_go(struct run *r)
{
	tracer__keep_waits(r->tracer, false);
	controller__release(r->controller);
	controller__limit(r->controller, r->o->max_overhead / 100, 0);
	return controller__hold(r->controller);
}

/* The recording of an incident, and who looks at it. That nothing can be written is no reason to
 * end the run. */
static int record(struct run *r, uint64_t now_ns)
{
	struct slo_watch *s = r->slo;
	const struct plan_function *f = &r->plan->functions[s->incident.pair.function];
	struct explain_question q = {
		.symbol = f->symbol,
		.module = r->target->objects[f->object].path,
		.from_ns = s->incident.from_ns,
		.limit_ns = r->o->slos[s->incident.pair.rule].limit,
	};
	char *path = NULL;
	int err = collector__poll(r->collector);

	if (!err)
		err = result__emit(r, now_ns, NULL);
	if (err)
		return err;
	progress__clear(&r->progress);
	err = recorder__copy(r->recorder, folder__part(r->folder),
			     "a rule was broken, and the run went on");
	if (!err)
		err = folder__adopt(r->folder, (double)time(NULL), &path);
	if (err)
		return err == -ENOMEM ? err : 0;
	folder__keep(r->folder, RECORDINGS_MAX);
	s->recordings++;
	explain__cancel(&s->explainer); /* there were ten windows since */
	free(s->path);
	s->path = path;
	s->explained = s->incident;
	q.path = path;
	explain__start(&q, &s->explainer);
	return 0;
}

/* Tells why sessions were slow, once that is known. */
static void tell(struct run *r, bool wait)
{
	struct slo_watch *s = r->slo;
	char what[NAME_SIZE + 128], *why;

	if (!explain__answer(&s->explainer, wait, &why))
		return;
	describe(r, &s->explained, what, sizeof(what));
	progress__clear(&r->progress);
	/* With -q as well: it is what the run is for. */
	log_at(LOG_ERROR, "%s: %s; %s", what,
	       why && *why ? why : "what slow sessions do longer is not known", s->path);
	on_slow__run(s->on_slow, s->path, why ? why : "");
	free(why);
}

static int act(struct run *r, enum slo_action action, uint64_t now_ns)
{
	int err = 0;

	switch (action) {
	case SLO_LOOK_CLOSER:
		return look_closer(r, now_ns);
	case SLO_WRITE:
		err = record(r, now_ns);
		return err ? err : let_go(r);
	case SLO_LET_GO:
		r->slo->passed++;
		progress__clear(&r->progress);
		log_info("it has passed before calls below it could be seen");
		return let_go(r);
	default:
		return 0;
	}
}

/* Judges the windows that have ended. */
static int judge(struct run *r, uint64_t now_ns)
{
	struct slo_watch *s = r->slo;
	struct profile buckets = {0};
	struct slo_look look;
	int err = collector__distributions(r->collector, &buckets);

	if (err)
		return err;
	slo_windows__look(s->windows, &buckets, now_ns, &look);
	free(buckets.buckets);
	if (look.broken && s->machine.state == SLO_HEALTHY)
		s->incident = (struct incident){look.worst, look.value_ns, look.calls, 0};
	if (!look.judged)
		return act(r, slo_machine__tick(&s->machine, now_ns), now_ns);
	return act(r, slo_machine__judged(&s->machine, look.broken, now_ns), now_ns);
}

int slo_watch__tick(struct run *r, uint64_t now_ns)
{
	struct slo_watch *s = r->slo;
	int err;

	if (!s)
		return 0;
	if (!s->due_ns) {
		slo_machine__init(&s->machine, r->o->slo_window_ns, now_ns);
		tracer__keep_waits(r->tracer, false);
		s->due_ns = now_ns + r->o->slo_window_ns;
	}
	tell(r, false);
	on_slow__look(s->on_slow);
	err = s->functions_cnt < r->plan->functions_cnt ? slo_watch__add(r, now_ns) : 0;
	if (!err)
		err = slo_duty__tick(r, &s->duty, is_looking(&s->machine), now_ns);
	if (err || now_ns < s->due_ns)
		return err ? err : act(r, slo_machine__tick(&s->machine, now_ns), now_ns);
	s->due_ns += r->o->slo_window_ns;
	if (s->due_ns <= now_ns) /* we were late by more than a window */
		s->due_ns = now_ns + r->o->slo_window_ns;
	return judge(r, now_ns);
}

/* "handle_*: p99 < 5ms: 58 windows, 3 of them broken" */
static void account_rule(const struct run *r, uint32_t rule)
{
	const struct assertion *a = &r->o->slos[rule];
	uint64_t windows = 0, broken = 0, thin = 0;
	const struct slo_pair *pairs;
	char few[96] = "";
	size_t cnt;

	pairs = slo_windows__pairs(r->slo->windows, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (pairs[i].rule != rule)
			continue;
		windows += pairs[i].windows;
		broken += pairs[i].broken;
		thin += pairs[i].thin;
	}
	if (thin)
		snprintf(few, sizeof(few),
			 "; %llu more, ten times as long, had too few calls: %s "
			 "needs %llu",
			 (unsigned long long)thin, measure__name(a->measure),
			 (unsigned long long)slo__calls_needed(a->measure));
	else if (!windows)
		snprintf(few, sizeof(few), ": too few calls, %s needs %llu a window",
			 measure__name(a->measure),
			 (unsigned long long)slo__calls_needed(a->measure));
	log_info("%s: %llu window%s judged, %llu broken%s", a->text, (unsigned long long)windows,
		 windows == 1 ? "" : "s", (unsigned long long)broken, few);
}

int slo_watch__finish(struct run *r, uint64_t now_ns)
{
	struct slo_watch *s = r->slo;
	int err;

	if (!s)
		return 0;
	err = s->due_ns ? act(r, slo_machine__end(&s->machine, now_ns), now_ns) : 0;

	tell(r, true);
	on_slow__finish(s->on_slow, ON_SLOW_END_MS);
	for (size_t rule = 0; rule < r->o->slos_cnt; rule++)
		account_rule(r, rule);
	if (s->recordings)
		log_info("%llu recording%s in %s", (unsigned long long)s->recordings,
			 s->recordings == 1 ? " is" : "s are", r->o->output);
	return err;
}
