// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls are many and lie in a file, so they are walked, never held. The first look tells how
 * long sessions take, and by that which to keep; the second one keeps these (session_keep.c). With
 * links a look before both tells which calls on other threads belong to a session.
 */
#include "sessions/sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "calls/spread.h"
#include "sessions/critical_path.h"
#include "sessions/session_ids.h"
#include "sessions/session_keep.h"
#include "sessions/session_links.h"
#include "sessions/session_walk.h"
#include "sessions/thread_calls.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/search.h"

#define LINK_EVENTS_MAX 4000000
#define EXACT_MAX	1000000 /* durations; quantiles of more sessions are by buckets */
#define OVER_MAX	1000	/* kept of those that took longer than asked for */
#define SAMPLE_MAX	256	/* from which usual ones are taken */
#define SAMPLE_SEED	0x9e3779b97f4a7c15

/* State of one group in the first look. */
struct choice {
	struct spread spread;
	uint64_t *durations; /* of all, as long as there is room */
	size_t durations_cnt, durations_cap;
	struct session *slowest; /* the slowest so far, and some more */
	size_t slowest_cnt, slowest_cap;
	uint64_t enough_ns;	/* as many as are wanted took at least this */
	struct session *sample; /* at random, of all */
	size_t sample_cnt;
};

struct finder {
	const struct profile *p;
	const struct session_spec *spec;
	struct session_parts parts;
	struct sessions *s;
	struct choice *choices; /* by group */
	size_t wanted;		/* slowest sessions of a group */
	size_t durations_cnt;	/* of all groups */
	uint64_t random;
};

/* The slower first; of equal ones, the earlier. */
static int compare_sessions(const void *a, const void *b)
{
	const struct session *x = a, *y = b;

	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void cut_slowest(struct choice *c, size_t wanted)
{
	if (c->slowest_cnt)
		qsort(c->slowest, c->slowest_cnt, sizeof(*c->slowest), compare_sessions);
	if (c->slowest_cnt > wanted)
		c->slowest_cnt = wanted;
	if (wanted && c->slowest_cnt == wanted)
		c->enough_ns = c->slowest[wanted - 1].duration_ns;
}

static int offer_slowest(struct choice *c, size_t wanted, const struct session *session)
{
	/* Among equally long sessions the first one is kept, which is there already. */
	if (!wanted || (c->enough_ns && session->duration_ns <= c->enough_ns))
		return 0;
	if (ARRAY_RESERVE(&c->slowest, c->slowest_cnt, &c->slowest_cap))
		return -ENOMEM;
	c->slowest[c->slowest_cnt++] = *session;
	if (c->slowest_cnt >= 2 * wanted)
		cut_slowest(c, wanted);
	return 0;
}

/* Knuth's generator (MMIX); the seed is fixed, so that a recording shows the same each time. */
static uint64_t any(struct finder *f, uint64_t below)
{
	f->random = f->random * 6364136223846793005 + 1442695040888963407;
	return (f->random >> 11) % below;
}

/* Vitter's algorithm R (ACM TOMS 11:37, 1985): each of `count` so far is in with the same chance.
 */
static int offer_sample(struct finder *f, struct choice *c, uint64_t count,
			const struct session *session)
{
	uint64_t at = c->sample_cnt < SAMPLE_MAX ? c->sample_cnt++ : any(f, count);

	if (!c->sample)
		c->sample = calloc(SAMPLE_MAX, sizeof(*c->sample));
	if (!c->sample)
		return -ENOMEM;
	if (at < SAMPLE_MAX)
		c->sample[at] = *session;
	return 0;
}

static int add_duration(struct finder *f, struct choice *c, uint64_t ns)
{
	if (f->durations_cnt < EXACT_MAX) {
		if (ARRAY_RESERVE(&c->durations, c->durations_cnt, &c->durations_cap))
			return -ENOMEM;
		c->durations[c->durations_cnt++] = ns;
		f->durations_cnt++;
	}
	return spread__add(&c->spread, bucket__of(ns), 1);
}

static int measure_step(const struct session_step *step, void *ctx)
{
	struct finder *f = ctx;
	struct session_group *g;
	struct session_extent *e;
	struct choice *c;
	struct session session;
	uint64_t end_ns = step->call->leave_ns;

	if (!step->begins)
		return 0;
	g = sessions__group(f->s, step->function);
	c = &f->choices[g - f->s->groups];
	e = session_parts__extent(&f->parts, step->session);
	if (session__is_open(f->p, f->spec, step->call, e)) {
		g->open++;
		return 0;
	}
	if (e && e->end_ns > end_ns)
		end_ns = e->end_ns;
	session = (struct session){
		.number = step->session,
		.thread = step->thread,
		.start_ns = step->call->enter_ns,
		.duration_ns = end_ns - step->call->enter_ns,
		.queue_ns = e ? e->queue_ns : 0,
	};
	if (e) {
		e->ended = true;
		e->function = step->function;
		e->duration_ns = session.duration_ns;
	}
	g->count++;
	if (g->count == 1 || session.start_ns < g->first_ns)
		g->first_ns = session.start_ns;
	if (end_ns > g->last_ns)
		g->last_ns = end_ns;
	if (session.duration_ns < g->min_ns || g->count == 1)
		g->min_ns = session.duration_ns;
	if (session.duration_ns > g->max_ns)
		g->max_ns = session.duration_ns;
	g->over += f->spec->over_ns && session.duration_ns > f->spec->over_ns;
	if (offer_sample(f, c, g->count, &session) || add_duration(f, c, session.duration_ns))
		return -ENOMEM;
	return offer_slowest(c, f->wanted, &session);
}

/* Keeps the sessions that are wanted by number, and those that took longer than over_ns. */
static void take_slowest(struct finder *f, struct session_group *g, struct choice *c)
{
	cut_slowest(c, f->wanted);
	while (c->slowest_cnt > f->spec->slowest &&
	       !(f->spec->over_ns && c->slowest[c->slowest_cnt - 1].duration_ns > f->spec->over_ns))
		c->slowest_cnt--;
	g->slowest = c->slowest;
	g->slowest_cnt = c->slowest_cnt;
	c->slowest = NULL;
}

static bool is_kept(const struct session_group *g, const struct session *session)
{
	for (size_t i = 0; i < g->slowest_cnt; i++) {
		if (g->slowest[i].number == session->number)
			return true;
	}
	return false;
}

/* The sample's first ones are no better than others, but those of a short run are its first. So it
 * is gone through from a place at random. */
static int take_usual(struct finder *f, struct session_group *g, struct choice *c)
{
	size_t first = c->sample_cnt ? any(f, c->sample_cnt) : 0;

	g->sample = calloc(c->sample_cnt + 1, sizeof(*g->sample));
	if (!g->sample)
		return -ENOMEM;
	for (size_t i = 0; i < c->sample_cnt && g->sample_cnt < f->spec->slowest; i++) {
		const struct session *session = &c->sample[(first + i) % c->sample_cnt];

		if (session->duration_ns <= g->p50_ns && !is_kept(g, session))
			g->sample[g->sample_cnt++] = *session;
	}
	return 0;
}

/* The duration that so many percent do not exceed. */
static uint64_t exact_quantile(const struct choice *c, unsigned int percent)
{
	return c->durations[(c->durations_cnt * percent + 99) / 100 - 1];
}

static int set_quantiles(struct session_group *g, struct choice *c)
{
	struct profile_bucket *buckets = NULL;
	struct distribution d = {.calls = g->count};
	int err;

	if (g->count && c->durations_cnt == g->count) {
		qsort(c->durations, c->durations_cnt, sizeof(*c->durations), u64_order);
		g->p50_ns = exact_quantile(c, 50);
		g->p90_ns = exact_quantile(c, 90);
		g->p99_ns = exact_quantile(c, 99);
		return 0;
	}
	err = spread__to_buckets(&c->spread, 1, &buckets, &d.cnt);
	if (err)
		return err;
	d.buckets = buckets;
	g->p50_ns = distribution__quantile(&d, 0.5, g->min_ns, g->max_ns);
	g->p90_ns = distribution__quantile(&d, 0.9, g->min_ns, g->max_ns);
	g->p99_ns = distribution__quantile(&d, 0.99, g->min_ns, g->max_ns);
	free(buckets);
	return 0;
}

static int finish_groups(struct finder *f)
{
	int err = 0;

	for (size_t i = 0; i < f->s->groups_cnt && !err; i++) {
		struct session_group *g = &f->s->groups[i];
		struct choice *c = &f->choices[i];

		if (f->p->duration_ns)
			g->per_second = (double)g->count * 1e9 / (double)f->p->duration_ns;
		err = set_quantiles(g, c);
		take_slowest(f, g, c);
		if (!err)
			err = take_usual(f, g, c);
	}
	return err;
}

static int prepare(struct finder *f)
{
	const struct profile *p = f->p;
	struct sessions *s = f->s;

	for (size_t i = 0; i < p->functions_cnt; i++)
		s->groups_cnt += f->spec->functions[i];
	s->groups = calloc(s->groups_cnt + 1, sizeof(*s->groups));
	s->threads = calloc(p->threads_cnt + 1, sizeof(*s->threads));
	s->links = calloc(f->spec->links_cnt + 1, sizeof(*s->links));
	f->choices = calloc(s->groups_cnt + 1, sizeof(*f->choices));
	if (!s->groups || !s->threads || !s->links || !f->choices)
		return -ENOMEM;
	s->links_cnt = f->spec->links_cnt;
	s->threads_cnt = p->threads_cnt;
	if (p->threads_cnt)
		memcpy(s->threads, p->threads, p->threads_cnt * sizeof(*s->threads));
	s->groups_cnt = 0;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (f->spec->functions[i])
			s->groups[s->groups_cnt++].function = i;
	}
	return 0;
}

static void finder_clear(struct finder *f)
{
	for (size_t i = 0; f->choices && i < f->s->groups_cnt; i++) {
		free(f->choices[i].spread.calls);
		free(f->choices[i].durations);
		free(f->choices[i].slowest);
		free(f->choices[i].sample);
	}
	free(f->choices);
	free(f->parts.parts);
	free(f->parts.extents);
}

static int find_chains(const struct profile *p, const struct thread_calls *held, struct sessions *s)
{
	int err = 0;

	s->has_waits = p->waits;
	for (size_t i = 0; p->waits && i < s->groups_cnt && !err; i++) {
		for (size_t n = 0; n < s->groups[i].slowest_cnt && !err; n++)
			err = critical_path__find(s, p->waits, held, &s->groups[i].slowest[n]);
	}
	return err;
}

int sessions__find(const struct profile *p, const struct session_spec *spec, struct sessions **out)
{
	struct finder f = {
		.p = p,
		.spec = spec,
		.s = calloc(1, sizeof(*f.s)),
		.wanted = spec->slowest,
		.random = SAMPLE_SEED,
	};
	struct thread_calls held = {0};
	int err = f.s ? prepare(&f) : -ENOMEM;

	if (spec->over_ns && f.wanted < OVER_MAX)
		f.wanted = OVER_MAX;
	if (!err && spec->links_cnt)
		err = session_links__match(p, spec, LINK_EVENTS_MAX, &f.parts, f.s->links);
	if (!err)
		err = session_walk(p, spec->functions, measure_step, &f);
	if (!err)
		err = finish_groups(&f);
	if (!err)
		err = sessions__keep(p, spec, &f.parts, f.s, &held);
	if (!err)
		err = find_chains(p, &held, f.s);
	if (!err && (spec->id.value || spec->id.is_context))
		err = sessions__set_ids(p, &spec->id, f.s);
	thread_calls__fini(&held);
	if (f.s)
		finder_clear(&f);
	if (err) {
		sessions__free(f.s);
		return err;
	}
	*out = f.s;
	return 0;
}
