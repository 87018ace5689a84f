// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/tools/wait_slices.h"

#include <stdio.h>

#include "calls/profile.h"
#include "sink/names.h"
#include "timeline/waits.h"

#define NAME_LEN 100

int wait_slices__init(struct wait_slices *s, const struct profile *p)
{
	*s = (struct wait_slices){.p = p, .waits = p->waits};
	return wait_flows__init(&s->flows, p);
}

void wait_slices__fini(struct wait_slices *s)
{
	wait_flows__fini(&s->flows);
	*s = (struct wait_slices){0};
}

/* NULL: the track's thread has neither waited nor woken anybody. */
static const struct wait_party *party_of(const struct wait_slices *s, uint32_t track)
{
	const struct profile_thread *t;

	if (!s->waits)
		return NULL;
	if (track >= s->p->threads_cnt)
		return &s->waits->parties[s->flows.asides[track - s->p->threads_cnt]];
	t = &s->p->threads[track];
	return waits__party(s->waits, t->pid, t->tid);
}

void wait_slices__turn(struct wait_slices *s, uint32_t track)
{
	const struct wait_party *party = party_of(s, track);

	s->track = track;
	s->wait = s->waits_end = s->wake = s->wakes_end = 0;
	if (!party)
		return;
	s->wait = party->first;
	s->waits_end = party->first + party->cnt;
	s->wake = wait_flows__wakes(&s->flows, track, &s->wakes_end);
}

static const char *function_of(const struct wait_slices *s, uint32_t path)
{
	uint32_t function = waits__function(s->waits, path);

	return function < s->p->functions_cnt ? function__name(&s->p->functions[function]) : "";
}

static void name_wait(const struct single_wait *w, char name[SLICE_NAME])
{
	const char *role = wait_object__role(w->kind);
	char object[128];

	wait_object__text(w->kind, w->object, w->object_name, object, sizeof(object));
	snprintf(name, SLICE_NAME, "[%s%s%s%s%s]", wait_reason__word(w->reason), *object ? " " : "",
		 object, role ? ", as a " : "", role ? role : "");
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
	if (s->track >= s->p->threads_cnt)
		return s->flows.aside[w - s->waits->all];
	if (s->flows.sessions)
		return depth && w->thread;
	return w->thread ? w->thread == s->track + 1
			 : wait_flows__is_whole(&s->p->threads[s->track]);
}

/* The wait, from its begin to its end, and in it the part in which it could run. */
static int visit_wait(struct wait_slices *s, const struct single_wait *w, uint64_t until_ns,
		      slice_visitor visit, void *ctx)
{
	uint64_t end_ns = w->end_ns < until_ns ? w->end_ns : until_ns;
	uint64_t woken_ns = single_wait__woken_ns(w) < end_ns ? single_wait__woken_ns(w) : end_ns;
	bool flows = wait_flows__end_at(&s->flows, w, s->track);
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

/* "session 3: 12.3 ms", or the name of a thread that has no title. */
static const char *woken_name(const struct wait_slices *s, const struct single_wait *w)
{
	uint32_t track = wait_flows__shown_on(&s->flows, w);

	return s->flows.sessions && track && track <= s->p->threads_cnt
		       ? s->p->threads[track - 1].title
		       : s->waits->parties[w->party].comm;
}

static int visit_wake(struct wait_slices *s, uint32_t wait, slice_visitor visit, void *ctx)
{
	const struct single_wait *w = &s->waits->all[wait];
	struct wait_slice slice = {
		.kind = SLICE_WAKE,
		.at_ns = single_wait__woken_ns(w),
		.flow = (uint64_t)wait + 1,
	};

	snprintf(slice.name, sizeof(slice.name), "wakes %.63s", woken_name(s, w));
	snprintf(slice.waker, sizeof(slice.waker), "%.*s", NAME_LEN, function_of(s, w->waker_path));
	return visit(&slice, ctx);
}

int wait_slices__until(struct wait_slices *s, uint64_t at_ns, uint32_t depth, slice_visitor visit,
		       void *ctx)
{
	int err = 0;

	while (!err) {
		const struct single_wait *w =
			s->wait < s->waits_end ? &s->waits->all[s->wait] : NULL;
		uint32_t wake = s->wake < s->wakes_end ? s->flows.wakes[s->wake].wait : 0;
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
