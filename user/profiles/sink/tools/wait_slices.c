// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/tools/wait_slices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "sink/names.h"
#include "timeline/waits.h"
#include "util/search.h"

#define NAME_LEN 100

/* For qsort_r(): by waker, then in order of time. */
static int compare_wakes(const void *a, const void *b, void *ctx)
{
	const struct waits *waits = ctx;
	const struct single_wait *x = &waits->all[*(const uint32_t *)a];
	const struct single_wait *y = &waits->all[*(const uint32_t *)b];
	uint64_t x_ns = single_wait__woken_ns(x), y_ns = single_wait__woken_ns(y);

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x_ns < y_ns ? -1 : x_ns > y_ns;
}

/* The thread's own stack, where its waits outside of calls are shown, and whom it wakes. */
static bool is_whole(const struct profile_thread *t)
{
	return !t->callstack_ns && !t->goroutine && !t->spans && !*t->title;
}

static void mark_tracks(struct wait_slices *s)
{
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->threads_cnt; i++) {
		const struct profile_thread *t = &p->threads[i];
		const struct wait_party *party = waits__party(s->waits, t->pid, t->tid);

		s->sessions |= *t->title;
		if (party && t->first_root && is_whole(t))
			s->tracked[party - s->waits->parties] = true;
	}
}

int wait_slices__init(struct wait_slices *s, const struct profile *p)
{
	*s = (struct wait_slices){.p = p, .waits = p->waits};
	if (!p->waits)
		return 0;
	s->tracked = calloc(p->waits->parties_cnt + 1, sizeof(*s->tracked));
	s->wakes = calloc(p->waits->cnt + 1, sizeof(*s->wakes));
	if (!s->tracked || !s->wakes)
		return -ENOMEM;
	mark_tracks(s);
	for (size_t i = 0; i < p->waits->cnt && !s->sessions; i++) {
		const struct single_wait *w = &p->waits->all[i];

		if (w->waker && s->tracked[w->waker - 1] && s->tracked[w->party])
			s->wakes[s->wakes_cnt++] = i;
	}
	qsort_r(s->wakes, s->wakes_cnt, sizeof(*s->wakes), compare_wakes, (void *)p->waits);
	return 0;
}

void wait_slices__fini(struct wait_slices *s)
{
	free(s->tracked);
	free(s->wakes);
	*s = (struct wait_slices){0};
}

void wait_slices__turn(struct wait_slices *s, uint32_t thread)
{
	const struct profile_thread *t = &s->p->threads[thread];
	const struct wait_party *party = s->waits ? waits__party(s->waits, t->pid, t->tid) : NULL;
	uint32_t waker;

	s->thread = thread;
	s->wait = s->waits_end = s->wake = s->wakes_end = 0;
	if (!party)
		return;
	s->wait = party->first;
	s->waits_end = party->first + party->cnt;
	if (!is_whole(t))
		return;
	waker = party - s->waits->parties + 1;
	s->wake = LOWER_BOUND(s->wakes_cnt, i, s->waits->all[s->wakes[i]].waker < waker);
	s->wakes_end = LOWER_BOUND(s->wakes_cnt, i, s->waits->all[s->wakes[i]].waker <= waker);
}

static const char *function_of(const struct wait_slices *s, uint32_t path)
{
	uint32_t function = waits__function(s->waits, path);

	return function < s->p->functions_cnt ? function__name(&s->p->functions[function]) : "";
}

static void name_wait(const struct single_wait *w, char name[SLICE_NAME])
{
	char object[128];

	wait_object__text(w->kind, w->object, w->object_name, object, sizeof(object));
	snprintf(name, SLICE_NAME, *object ? "[%s %s]" : "[%s%s]", wait_reason__word(w->reason),
		 object);
}

static void name_waker(const struct wait_slices *s, const struct single_wait *w,
		       char waker[SLICE_WAKER])
{
	const char *function = function_of(s, w->waker_path);

	snprintf(waker, SLICE_WAKER, *function ? "%.15s: %.*s" : "%.15s",
		 s->waits->parties[w->waker - 1].comm, NAME_LEN, function);
}

/* Whether the wait is shown on the track. */
static bool is_shown(const struct wait_slices *s, const struct single_wait *w, uint32_t depth)
{
	if (s->sessions)
		return depth && w->thread;
	return w->thread ? w->thread == s->thread + 1 : is_whole(&s->p->threads[s->thread]);
}

/* The wait, from its begin to its end, and in it the part in which it could run. */
static int visit_wait(struct wait_slices *s, const struct single_wait *w, uint64_t until_ns,
		      slice_visitor visit, void *ctx)
{
	uint64_t end_ns = w->end_ns < until_ns ? w->end_ns : until_ns;
	uint64_t woken_ns = single_wait__woken_ns(w) < end_ns ? single_wait__woken_ns(w) : end_ns;
	bool flows = w->waker && !s->sessions && s->tracked[w->waker - 1] && s->tracked[w->party];
	struct wait_slice slice = {.kind = SLICE_BEGIN, .at_ns = w->begin_ns};
	int err;

	name_wait(w, slice.name);
	if (w->waker)
		name_waker(s, w, slice.waker);
	err = visit(&slice, ctx);
	if (!err && w->reason != WAIT_CPU) {
		slice = (struct wait_slice){
			.kind = SLICE_BEGIN,
			.at_ns = woken_ns,
			.flow = flows ? (uint64_t)(w - s->waits->all) + 1 : 0,
			.name = "[cpu]",
		};
		err = visit(&slice, ctx);
		slice = (struct wait_slice){.kind = SLICE_END, .at_ns = end_ns};
		if (!err)
			err = visit(&slice, ctx);
	}
	slice = (struct wait_slice){.kind = SLICE_END, .at_ns = end_ns};
	return err ? err : visit(&slice, ctx);
}

static int visit_wake(struct wait_slices *s, uint32_t wait, slice_visitor visit, void *ctx)
{
	const struct single_wait *w = &s->waits->all[wait];
	struct wait_slice slice = {
		.kind = SLICE_WAKE,
		.at_ns = single_wait__woken_ns(w),
		.flow = (uint64_t)wait + 1,
	};

	snprintf(slice.name, sizeof(slice.name), "wakes %.15s", s->waits->parties[w->party].comm);
	return visit(&slice, ctx);
}

int wait_slices__until(struct wait_slices *s, uint64_t at_ns, uint32_t depth, slice_visitor visit,
		       void *ctx)
{
	int err = 0;

	while (!err) {
		const struct single_wait *w =
			s->wait < s->waits_end ? &s->waits->all[s->wait] : NULL;
		uint32_t wake = s->wake < s->wakes_end ? s->wakes[s->wake] : 0;
		uint64_t wake_ns = s->wake < s->wakes_end
					   ? single_wait__woken_ns(&s->waits->all[wake])
					   : UINT64_MAX;

		if (w && w->begin_ns < at_ns && w->begin_ns <= wake_ns) {
			s->wait++;
			if (is_shown(s, w, depth))
				err = visit_wait(s, w, at_ns, visit, ctx);
		} else if (wake_ns < at_ns) {
			s->wake++;
			err = visit_wake(s, wake, visit, ctx);
		} else {
			break;
		}
	}
	return err;
}
