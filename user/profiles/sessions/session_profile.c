// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/session_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/distribution.h"
#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/spread.h"
#include "calls/tree.h"
#include "sessions/sessions.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/text.h"

/* The time of all sessions together, at most: no sum wraps around, whatever a file says. */
#define TOTAL_MAX_NS (INT64_MAX / 2)

/* The calls of each thread of the new profile, one after the other. */
struct kept_timeline {
	struct timeline base;
	struct timeline_call *calls; /* their values are those of profile::sessions */
	size_t calls_cnt;
	size_t *first; /* by thread, and one more */
	size_t at;
};

struct maker {
	struct profile *p;
	struct sessions *s;
	struct kept_timeline *t;
	struct profile_thread *threads;
	size_t threads_cnt, threads_cap, first_cap;
	struct profile_node *nodes;
	size_t nodes_cnt;
	struct path_map map;
	struct spread *spreads; /* by function */
	uint32_t *node_of;	/* by call of the session: its path */
	uint64_t total_ns;	/* of outermost calls so far */
};

static int kept_next(struct timeline *base, uint32_t thread, struct timeline_call *call)
{
	struct kept_timeline *t = (struct kept_timeline *)base;

	if (t->at >= t->first[thread + 1])
		return 0;
	*call = t->calls[t->at++];
	return 1;
}

static int kept_rewind(struct timeline *base, uint32_t thread)
{
	struct kept_timeline *t = (struct kept_timeline *)base;

	t->at = t->first[thread];
	return 0;
}

static void kept_free(struct timeline *base)
{
	struct kept_timeline *t = (struct kept_timeline *)base;

	free(t->calls);
	free(t->first);
	free(t);
}

/* How many calls all kept sessions have, and the longest of them. */
static size_t count_calls(const struct sessions *s, size_t *longest)
{
	size_t cnt = 0;

	*longest = 0;
	for (size_t i = 0; i < s->groups_cnt; i++) {
		const struct session_group *g = &s->groups[i];

		for (size_t n = 0; n < g->slowest_cnt + g->sample_cnt; n++) {
			const struct session *session = n < g->slowest_cnt
								? &g->slowest[n]
								: &g->sample[n - g->slowest_cnt];

			cnt += session->calls_cnt;
			if (session->calls_cnt > *longest)
				*longest = session->calls_cnt;
		}
	}
	return cnt;
}

static void add_stats(struct call_stats *s, const struct session_call *c)
{
	uint64_t took_ns = c->leave_ns - c->enter_ns;

	s->calls++;
	s->total_ns += took_ns;
	s->self_ns += session_call__self_ns(c);
	s->off_ns += c->off_ns;
	s->off_self_ns += session_call__off_self_ns(c);
	s->raw_total_ns = s->total_ns;
	s->raw_self_ns = s->self_ns;
	if (took_ns < s->min_ns)
		s->min_ns = took_ns;
	if (took_ns > s->max_ns)
		s->max_ns = took_ns;
}

static int add_call(struct maker *m, const struct session *session, size_t number)
{
	const struct session_call *c = &session->calls[number];
	uint32_t function = m->s->paths[c->path].function;
	uint32_t caller = c->caller ? m->node_of[c->caller - 1] : 0;
	uint32_t thread = m->threads_cnt - 1;
	uint32_t *node = path_map__at(&m->map, path_step(caller, thread, function));

	if (!*node) {
		*node = m->nodes_cnt++;
		m->nodes[*node] = (struct profile_node){
			.parent = caller,
			.function = function,
			.thread = thread,
			.stats = {.min_ns = UINT64_MAX},
		};
	}
	m->node_of[number] = *node;
	add_stats(&m->nodes[*node].stats, c);
	m->t->calls[m->t->calls_cnt++] = (struct timeline_call){
		.node = *node,
		.enter_ns = c->enter_ns,
		.leave_ns = c->leave_ns,
		.off_ns = c->off_ns,
		.values_cnt = c->values_cnt,
		.values = c->values,
	};
	return spread__add(&m->spreads[function], bucket__of(c->leave_ns - c->enter_ns), 1);
}

static int begin_thread(struct maker *m, const char *what, size_t rank,
			const struct session *session, uint32_t thread)
{
	struct profile_thread *t;
	char took[16], where[32];

	if (ARRAY_RESERVE(&m->threads, m->threads_cnt, &m->threads_cap) ||
	    ARRAY_RESERVE_MORE(&m->t->first, m->threads_cnt, 2, &m->first_cap))
		return -ENOMEM;
	t = &m->threads[m->threads_cnt];
	*t = m->s->threads[thread];
	text_duration(session->duration_ns, took, sizeof(took));
	if (t->goroutine)
		snprintf(where, sizeof(where), "goroutine %" PRIu64, t->goroutine);
	else
		snprintf(where, sizeof(where), "thread %d", t->tid);
	if (thread != session->thread)
		snprintf(t->title, sizeof(t->title), "%s %zu: %s, in %s", what, rank, took, where);
	else if (session->id)
		snprintf(t->title, sizeof(t->title), "%s %zu: %s, %s", what, rank, took,
			 session->id);
	else
		snprintf(t->title, sizeof(t->title), "%s %zu: %s", what, rank, took);
	/* No call stack of another one, for whoever asks. */
	t->start_ns = ++m->threads_cnt;
	t->callstack_ns = 0;
	t->merged_cnt = 0;
	m->t->first[m->threads_cnt - 1] = m->t->calls_cnt;
	return 0;
}

/* Adds the session's outermost calls to the total. Returns false if that is too much. */
static bool fits(struct maker *m, const struct session *session)
{
	uint64_t total_ns = m->total_ns;

	for (size_t i = 0; i < session->calls_cnt && total_ns <= TOTAL_MAX_NS; i++) {
		const struct session_call *c = &session->calls[i];

		total_ns += c->caller ? 0 : c->leave_ns - c->enter_ns;
	}
	if (total_ns > TOTAL_MAX_NS)
		return false;
	m->total_ns = total_ns;
	return true;
}

/* A thread for each that the session was on, the one where it began first. Calls are thread by
 * thread. */
static int add_session(struct maker *m, const char *what, size_t rank, struct session *session)
{
	int err = 0;

	if (!fits(m, session))
		return 0;
	session->first_part = m->threads_cnt;
	for (int other = 0; other < 2 && !err; other++) {
		uint32_t thread = UINT32_MAX;

		for (size_t i = 0; i < session->calls_cnt && !err; i++) {
			const struct session_call *c = &session->calls[i];

			if ((c->thread != session->thread) != other)
				continue;
			if (c->thread != thread)
				err = begin_thread(m, what, rank, session, c->thread);
			thread = c->thread;
			if (!err)
				err = add_call(m, session, i);
		}
	}
	session->parts_cnt = m->threads_cnt - session->first_part;
	return err;
}

static int add_sessions(struct maker *m, bool usual)
{
	const struct sessions *s = m->s;
	size_t rank = 0, usual_rank = 0;
	int err = 0;

	for (size_t i = 0; i < s->groups_cnt && !err; i++) {
		for (size_t n = 0; n < s->groups[i].slowest_cnt && !err; n++)
			err = add_session(m, "session", ++rank, &s->groups[i].slowest[n]);
	}
	for (size_t i = 0; usual && i < s->groups_cnt && !err; i++) {
		for (size_t n = 0; n < s->groups[i].sample_cnt && !err; n++)
			err = add_session(m, "usual", ++usual_rank, &s->groups[i].sample[n]);
	}
	return err;
}

static int prepare(struct maker *m)
{
	size_t longest, cnt = count_calls(m->s, &longest);

	m->t->calls = calloc(cnt + 1, sizeof(*m->t->calls));
	m->nodes = calloc(cnt + 1, sizeof(*m->nodes));
	m->nodes_cnt = 1;
	m->node_of = calloc(longest + 1, sizeof(*m->node_of));
	m->spreads = calloc(m->p->functions_cnt + 1, sizeof(*m->spreads));
	if (!m->t->calls || !m->nodes || !m->node_of || !m->spreads)
		return -ENOMEM;
	/* There may be no session: its end is known even so. */
	if (ARRAY_RESERVE(&m->t->first, 0, &m->first_cap))
		return -ENOMEM;
	return path_map__init(&m->map, cnt);
}

/* Puts what was made in the place of what there was. */
static int replace(struct maker *m)
{
	struct profile *p = m->p;
	struct profile_accounting *a = &p->accounting;
	int err = spread__to_buckets(m->spreads, p->functions_cnt, &p->buckets, &p->buckets_cnt);

	if (err)
		return err;
	m->t->first[m->threads_cnt] = m->t->calls_cnt;
	free(p->threads);
	free(p->nodes);
	p->threads = m->threads;
	p->threads_cnt = m->threads_cnt;
	p->nodes = m->nodes;
	p->nodes_cnt = m->nodes_cnt;
	p->lines_cnt = 0; /* in which session they ran is not known */
	m->threads = NULL;
	m->nodes = NULL;
	if (p->timeline)
		m->t->base.lost = p->timeline->lost;
	timeline__free(p->timeline);
	p->timeline = &m->t->base;
	a->entered = a->returned = a->timeline_calls = m->t->calls_cnt;
	p->calls_forgotten = 0;
	a->unwound = 0;
	a->open = 0;
	a->undistributed = 0;
	m->t = NULL;
	return profile__connect(p);
}

int profile__of_sessions(struct profile *p, struct sessions *s, bool usual)
{
	struct maker m = {.p = p, .s = s, .t = calloc(1, sizeof(*m.t))};
	int err;

	p->sessions = s;
	if (!m.t)
		return -ENOMEM;
	m.t->base = (struct timeline){.next = kept_next, .rewind = kept_rewind, .free = kept_free};
	err = prepare(&m);
	if (!err)
		err = add_sessions(&m, usual);
	if (!err)
		err = replace(&m);
	if (m.t)
		kept_free(&m.t->base);
	spread__free(m.spreads, p->functions_cnt);
	free(m.threads);
	free(m.nodes);
	free(m.node_of);
	path_map__fini(&m.map);
	return err;
}
