// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A wait has two parts: up to being woken the thread slept, for the reason that it had; from then
 * on it could run, and waited for a CPU. Each part is added up with those of the same kind.
 */
#include "sessions/session_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sessions/thread_calls.h"
#include "timeline/waits.h"
#include "util/array.h"
#include "util/search.h"

#define SUMS_MAX 100000 /* of kinds of waits; what is of another one is time off the CPU alone */
#define LATE_MAX 200000 /* waits whose wakers are looked at closely */

/* For qsort_r(): by thread, then in order of time. */
static int compare_places(const void *a, const void *b, void *ctx)
{
	const struct waits *waits = ctx;
	const struct single_wait *x = &waits->all[*(const uint32_t *)a];
	const struct single_wait *y = &waits->all[*(const uint32_t *)b];

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

int session_waits__init(struct session_waits *w, const struct profile *p)
{
	const struct waits *waits = p->waits;

	*w = (struct session_waits){.p = p, .waits = waits};
	if (!waits)
		return 0;
	w->order = calloc(waits->cnt + 1, sizeof(*w->order));
	if (!w->order)
		return -ENOMEM;
	for (size_t i = 0; i < waits->cnt; i++) {
		if (waits->all[i].thread)
			w->order[w->order_cnt++] = i;
	}
	qsort_r(w->order, w->order_cnt, sizeof(*w->order), compare_places, (void *)waits);
	return 0;
}

void session_waits__fini(struct session_waits *w)
{
	free(w->order);
	free(w->index);
	free(w->late);
	*w = (struct session_waits){0};
}

void session_waits__turn(struct session_waits *w, uint32_t thread)
{
	if (!w->waits || w->thread == thread + 1)
		return;
	w->thread = thread + 1;
	w->at = LOWER_BOUND(w->order_cnt, i, w->waits->all[w->order[i]].thread < w->thread);
	w->end = LOWER_BOUND(w->order_cnt, i, w->waits->all[w->order[i]].thread <= w->thread);
}

const struct single_wait *session_waits__next(struct session_waits *w, uint64_t at_ns)
{
	const struct single_wait *next = w->at < w->end ? &w->waits->all[w->order[w->at]] : NULL;

	if (!next || next->begin_ns >= at_ns)
		return NULL;
	w->at++;
	return next;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct session_wait *k)
{
	uint64_t hash = mix(k->path, (uint64_t)k->reason << 32 | k->kind), words[2];

	memcpy(words, k->waker, sizeof(words));
	for (const char *c = k->object_name; c && *c; c++)
		hash = mix(hash, (unsigned char)*c);
	hash = mix(hash, k->object_name ? 0 : k->object);
	hash = mix(hash, (uint64_t)k->waker_function << 32 | (uint32_t)k->waker_pid);
	return mix(mix(hash, words[0]), words[1]);
}

static bool same_kind(const struct session_wait *a, const struct session_wait *b)
{
	return a->path == b->path && a->reason == b->reason && a->kind == b->kind &&
	       !wait_object__compare(a->object, a->object_name, b->object, b->object_name) &&
	       a->waker_function == b->waker_function && a->waker_pid == b->waker_pid &&
	       !memcmp(a->waker, b->waker, sizeof(a->waker));
}

static uint32_t *place_of(const struct session_waits *w, const struct sessions *s,
			  const struct session_wait *k)
{
	uint64_t at = hash_of(k);

	for (;; at++) {
		uint32_t *place = &w->index[at & (w->index_size - 1)];

		if (!*place || same_kind(&s->waits[*place - 1], k))
			return place;
	}
}

static int grow_index(struct session_waits *w, const struct sessions *s)
{
	uint32_t *before = w->index;
	size_t size = w->index_size ? 2 * w->index_size : 256;

	w->index = calloc(size, sizeof(*w->index));
	if (!w->index) {
		w->index = before;
		return -ENOMEM;
	}
	w->index_size = size;
	free(before);
	for (size_t i = 0; i < s->waits_cnt; i++)
		*place_of(w, s, &s->waits[i]) = i + 1;
	return 0;
}

/* Adds so many ns to the sum of that kind. */
static int add(struct session_waits *w, struct sessions *s, const struct session_wait *kind,
	       uint64_t ns, bool worst, bool usual)
{
	struct session_wait *sum;
	uint32_t *place;

	if (2 * (s->waits_cnt + 1) > w->index_size && grow_index(w, s))
		return -ENOMEM;
	place = place_of(w, s, kind);
	if (!*place && s->waits_cnt == SUMS_MAX)
		return 0;
	if (!*place) {
		if (ARRAY_RESERVE(&s->waits, s->waits_cnt, &w->sums_cap))
			return -ENOMEM;
		s->waits[s->waits_cnt] = *kind;
		*place = ++s->waits_cnt;
	}
	sum = &s->waits[*place - 1];
	sum->worst_ns += worst ? ns : 0;
	sum->worst_cnt += worst;
	sum->usual_ns += usual ? ns : 0;
	sum->usual_cnt += usual;
	s->paths[kind->path].worst_waited_ns += worst ? ns : 0;
	s->paths[kind->path].usual_waited_ns += usual ? ns : 0;
	return 0;
}

#define NAMELESS_MOST 8 /* callers that are looked at for one with a name */

/* The waker's function: its innermost call, or if that has no name the next caller that has. */
static uint32_t waker_function(const struct session_waits *w, uint32_t path)
{
	uint32_t innermost = waits__function(w->waits, path);

	for (int i = 0; i < NAMELESS_MOST && path; i++) {
		uint32_t function = waits__function(w->waits, path);

		if (function >= w->p->functions_cnt ||
		    !function__is_nameless(&w->p->functions[function]))
			return function;
		path = w->waits->paths[path - 1].parent;
	}
	return innermost;
}

/* The function of the waker that a wait is told with: that of its innermost call, unless one that
 * has just ended tells more. */
static uint32_t told_waker(const struct session_waits *w, const struct single_wait *wait)
{
	uint32_t ended = w->held ? thread_calls__jumped_from(w->held, w->waits, wait) : UINT32_MAX;

	return ended != UINT32_MAX ? ended : waker_function(w, wait->waker_path);
}

static int add_wait(struct session_waits *w, struct sessions *s, uint32_t path,
		    const struct single_wait *wait, bool worst, bool usual)
{
	uint64_t woken_ns = single_wait__woken_ns(wait);
	struct session_wait kind = {
		.path = path,
		.reason = wait->reason,
		.kind = wait->kind,
		.object = wait->object,
		.object_name = wait->object_name,
		.waker_function = UINT32_MAX,
	};
	int err = 0;

	if (wait->waker) {
		const struct wait_party *waker = &w->waits->parties[wait->waker - 1];

		kind.other_process = waker->pid != w->waits->parties[wait->party].pid;
		kind.waker_pid = waker->pid;
		kind.waker_tid = waker->tid;
		memcpy(kind.waker, waker->comm, sizeof(kind.waker));
		kind.waker_function = told_waker(w, wait);
	}
	if (wait->reason == WAIT_CPU)
		woken_ns = wait->begin_ns;
	if (woken_ns > wait->begin_ns)
		err = add(w, s, &kind, woken_ns - wait->begin_ns, worst, usual);
	kind = (struct session_wait){
		.path = path, .reason = WAIT_CPU, .waker_function = UINT32_MAX};
	if (!err && wait->end_ns > woken_ns)
		err = add(w, s, &kind, wait->end_ns - woken_ns, worst, usual);
	return err;
}

int session_waits__add(struct session_waits *w, struct sessions *s, uint32_t path,
		       const struct single_wait *wait, bool worst, bool usual)
{
	if (!worst && !usual)
		return 0;
	if (!worst || !wait->waker || w->late_cnt == LATE_MAX)
		return add_wait(w, s, path, wait, worst, usual);
	if (ARRAY_RESERVE(&w->late, w->late_cnt, &w->late_cap))
		return -ENOMEM;
	w->late[w->late_cnt++] = (struct late_wait){wait, path, usual};
	return 0;
}

void session_waits__windows(const struct session_waits *w, struct time_window *windows)
{
	for (size_t i = 0; i < w->late_cnt; i++)
		windows[i] = (struct time_window){w->late[i].wait->begin_ns,
						  single_wait__woken_ns(w->late[i].wait)};
}

int session_waits__finish(struct session_waits *w, struct sessions *s,
			  const struct thread_calls *held)
{
	int err = 0;

	w->held = held;
	for (size_t i = 0; i < w->late_cnt && !err; i++)
		err = add_wait(w, s, w->late[i].path, w->late[i].wait, true, w->late[i].usual);
	return err;
}
