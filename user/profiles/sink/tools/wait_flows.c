// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/tools/wait_flows.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "timeline/timeline.h"
#include "timeline/waits.h"
#include "util/array.h"
#include "util/search.h"

bool wait_flows__is_whole(const struct profile_thread *t)
{
	return !t->callstack_ns && !t->goroutine && !t->spans && !*t->title;
}

/* For qsort_r(): by track, then in order of time. */
static int compare_wakes(const void *a, const void *b, void *ctx)
{
	const struct waits *waits = ctx;
	const struct wake *x = a, *y = b;
	uint64_t x_ns = single_wait__woken_ns(&waits->all[x->wait]);
	uint64_t y_ns = single_wait__woken_ns(&waits->all[y->wait]);

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return x->wait < y->wait ? -1 : x->wait > y->wait;
}

static int compare_stretches(const void *a, const void *b)
{
	const struct session_stretch *x = a, *y = b;

	if (x->party != y->party)
		return x->party < y->party ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* For qsort_r(): by process, then by thread. */
static int compare_parties(const void *a, const void *b, void *ctx)
{
	const struct wait_party *parties = ctx;
	const struct wait_party *x = &parties[*(const uint32_t *)a];
	const struct wait_party *y = &parties[*(const uint32_t *)b];

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* A walk over the calls of one session's part. */
struct gathering {
	struct wait_flows *f;
	uint32_t party, thread;
};

static int gather_stretch(const struct timeline_event *e, void *ctx)
{
	struct gathering *g = ctx;
	struct wait_flows *f = g->f;

	if (e->depth)
		return 0;
	if (!e->begins) {
		f->stretches[f->stretches_cnt - 1].end_ns = e->at_ns;
		return 0;
	}
	if (ARRAY_RESERVE(&f->stretches, f->stretches_cnt, &f->stretches_cap))
		return -ENOMEM;
	f->stretches[f->stretches_cnt++] = (struct session_stretch){
		.party = g->party,
		.thread = g->thread,
		.begin_ns = e->at_ns,
	};
	return 0;
}

/* A call may be in two sessions, so one's stretch may lie in another one's. */
static void sort_stretches(struct wait_flows *f)
{
	struct session_stretch *all = f->stretches;

	if (f->stretches_cnt)
		qsort(all, f->stretches_cnt, sizeof(*all), compare_stretches);
	for (size_t i = 1; i < f->stretches_cnt; i++) {
		uint32_t around = i;

		while (around && (all[around - 1].party != all[i].party ||
				  all[around - 1].end_ns <= all[i].begin_ns))
			around = all[around - 1].around;
		all[i].around = around;
	}
}

static int find_tracks(struct wait_flows *f)
{
	const struct profile *p = f->p;
	int err = 0;

	for (size_t i = 0; i < p->threads_cnt && !err; i++) {
		const struct profile_thread *t = &p->threads[i];
		const struct wait_party *party = waits__party(f->waits, t->pid, t->tid);
		struct gathering g = {.f = f, .thread = i};

		f->sessions |= *t->title;
		if (!party || !t->first_root)
			continue;
		g.party = party - f->waits->parties;
		if (*t->title)
			err = timeline__walk(p->timeline, i, gather_stretch, &g);
		else if (wait_flows__is_whole(t))
			f->whole[g.party] = i + 1;
	}
	sort_stretches(f);
	return err;
}

/* The session's part that the thread is in, plus 1; 0: in none. */
static uint32_t session_at(const struct wait_flows *f, uint32_t party, uint64_t at_ns)
{
	const struct session_stretch *all = f->stretches;
	size_t i = LOWER_BOUND(f->stretches_cnt, n,
			       all[n].party < party ||
				       (all[n].party == party && all[n].begin_ns <= at_ns));

	while (i && all[i - 1].party == party && all[i - 1].end_ns <= at_ns)
		i = all[i - 1].around;
	return i && all[i - 1].party == party ? all[i - 1].thread + 1 : 0;
}

/* The track on which the thread wakes another one, plus 1; 0: none. */
static uint32_t waking_on(const struct wait_flows *f, const struct single_wait *w)
{
	uint32_t session;

	if (!w->waker)
		return 0;
	session = session_at(f, w->waker - 1, single_wait__woken_ns(w));
	return session ? session : f->whole[w->waker - 1];
}

uint32_t wait_flows__shown_on(const struct wait_flows *f, const struct single_wait *w)
{
	uint32_t session = w->thread ? session_at(f, w->party, w->begin_ns) : 0;

	if (session || (f->sessions && !f->aside[w - f->waits->all]))
		return session;
	return f->whole[w->party];
}

bool wait_flows__end_at(const struct wait_flows *f, const struct single_wait *w, uint32_t track)
{
	uint32_t on = wait_flows__shown_on(f, w);

	/* A coroutine's waits are not shown on its thread's track, but what ends them is. */
	return on && (on == track + 1 || !f->sessions) && waking_on(f, w);
}

size_t wait_flows__wakes(const struct wait_flows *f, uint32_t track, size_t *end)
{
	*end = LOWER_BOUND(f->wakes_cnt, i, f->wakes[i].track <= track);
	return LOWER_BOUND(f->wakes_cnt, i, f->wakes[i].track < track);
}

/* Beside a wait of a session's, the last one that its waker had meanwhile; beside that, the last
 * one of its own waker, and so on. Each is marked once. */
static void mark_chain(struct wait_flows *f, const struct single_wait *w, bool *alone)
{
	const struct waits *waits = f->waits;

	while (w->waker && !waking_on(f, w)) {
		const struct single_wait *before = waits__before(
			waits, &waits->parties[w->waker - 1], single_wait__woken_ns(w));

		alone[w->waker - 1] = true;
		if (!before || before->end_ns <= w->begin_ns || wait_flows__shown_on(f, before) ||
		    f->aside[before - waits->all])
			break;
		f->aside[before - waits->all] = true;
		w = before;
	}
}

/* Finds wakers that are in no session, and gives them tracks of their own. */
static int find_asides(struct wait_flows *f)
{
	const struct waits *waits = f->waits;
	bool *alone = calloc(waits->parties_cnt + 1, sizeof(*alone));

	f->asides = calloc(waits->parties_cnt + 1, sizeof(*f->asides));
	if (!alone || !f->asides) {
		free(alone);
		return -ENOMEM;
	}
	for (size_t i = 0; i < waits->cnt; i++) {
		if (wait_flows__shown_on(f, &waits->all[i]))
			mark_chain(f, &waits->all[i], alone);
	}
	for (size_t i = 0; i < waits->parties_cnt; i++) {
		if (alone[i])
			f->asides[f->asides_cnt++] = i;
	}
	free(alone);
	qsort_r(f->asides, f->asides_cnt, sizeof(*f->asides), compare_parties,
		(void *)waits->parties);
	for (size_t i = 0; i < f->asides_cnt; i++)
		f->whole[f->asides[i]] = f->p->threads_cnt + i + 1;
	return 0;
}

static int find_wakes(struct wait_flows *f)
{
	for (size_t i = 0; i < f->waits->cnt; i++) {
		const struct single_wait *w = &f->waits->all[i];
		uint32_t track = wait_flows__shown_on(f, w) ? waking_on(f, w) : 0;

		if (!track)
			continue;
		if (ARRAY_RESERVE(&f->wakes, f->wakes_cnt, &f->wakes_cap))
			return -ENOMEM;
		f->wakes[f->wakes_cnt++] = (struct wake){.wait = i, .track = track - 1};
	}
	if (f->wakes_cnt)
		qsort_r(f->wakes, f->wakes_cnt, sizeof(*f->wakes), compare_wakes, (void *)f->waits);
	return 0;
}

int wait_flows__init(struct wait_flows *f, const struct profile *p)
{
	int err;

	*f = (struct wait_flows){.p = p, .waits = p->waits};
	if (!p->waits)
		return 0;
	f->whole = calloc(p->waits->parties_cnt + 1, sizeof(*f->whole));
	f->aside = calloc(p->waits->cnt + 1, sizeof(*f->aside));
	if (!f->whole || !f->aside)
		return -ENOMEM;
	err = find_tracks(f);
	if (!err && f->sessions)
		err = find_asides(f);
	return err ? err : find_wakes(f);
}

void wait_flows__fini(struct wait_flows *f)
{
	free(f->whole);
	free(f->stretches);
	free(f->aside);
	free(f->asides);
	free(f->wakes);
	*f = (struct wait_flows){0};
}
