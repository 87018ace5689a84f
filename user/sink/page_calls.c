// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls for the page. A browser holds what it shows in memory, so there are at most
 * CALLS_MAX of them: of more, the longest. A first walk counts calls by duration to find how long
 * these are; a second writes them. As callees are never longer than their caller, what is left out
 * is below what is shown, but for calls of just that length: of these one in so many is kept.
 */
#include <stdbool.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "calls/timeline.h"
#include "sink/page.h"
#include "util/json.h"

#define CALLS_MAX     500000 /* some 8 MB of page */
#define STREAM_FAILED 1	     /* ends a walk; the stream knows why */

struct thinning {
	struct json *j;
	const struct profile *p;
	const uint32_t *paths;
	uint64_t by_bucket[BUCKETS];
	uint64_t calls;	    /* all that have a path in the document */
	uint32_t least;	    /* bucket of the shortest calls that are kept */
	uint64_t one_in;    /* of that class; 0: none */
	uint64_t at_least;  /* calls of it seen so far */
	uint64_t thread_ns; /* where the thread's last written call began */
};

/* The number of a call's path, plus one; 0 if it is not in the document. */
static uint32_t path_of(const struct thinning *t, const struct timeline_event *event)
{
	uint32_t node = event->call->node;

	return event->begins && node < t->p->nodes_cnt ? t->paths[node] : 0;
}

static uint64_t duration_of(const struct timeline_event *event)
{
	uint64_t leave_ns = event->call->leave_ns;

	return leave_ns > event->at_ns ? leave_ns - event->at_ns : 0;
}

static int count_call(const struct timeline_event *event, void *ctx)
{
	struct thinning *t = ctx;

	if (path_of(t, event)) {
		t->by_bucket[bucket__of(duration_of(event))]++;
		t->calls++;
	}
	return 0;
}

static void choose_least(struct thinning *t)
{
	uint64_t room = CALLS_MAX;

	t->one_in = 1;
	if (t->calls <= room)
		return;
	for (t->least = BUCKETS - 1; t->by_bucket[t->least] <= room; t->least--)
		room -= t->by_bucket[t->least];
	t->one_in = room ? (t->by_bucket[t->least] + room - 1) / room : 0;
}

static bool is_kept(struct thinning *t, uint64_t duration_ns)
{
	uint32_t bucket = bucket__of(duration_ns);

	if (bucket != t->least)
		return bucket > t->least;
	return t->one_in && t->at_least++ % t->one_in == 0;
}

/* Four numbers a call: how much later than the one before it began, how long it took, how much of
 * that off a CPU, and its path. */
static int write_call(const struct timeline_event *event, void *ctx)
{
	struct thinning *t = ctx;
	uint64_t duration_ns = duration_of(event), off_ns = event->call->off_ns;
	uint32_t path = path_of(t, event);

	if (!path || !is_kept(t, duration_ns))
		return 0;
	json_u64(t->j, event->at_ns - t->thread_ns);
	json_u64(t->j, duration_ns);
	json_u64(t->j, off_ns < duration_ns ? off_ns : duration_ns);
	json_u64(t->j, path - 1);
	t->thread_ns = event->at_ns;
	return ferror_unlocked(t->j->out) ? STREAM_FAILED : 0;
}

static int walk_threads(struct thinning *t, const uint32_t *threads, size_t cnt,
			timeline_visitor visit, bool writes)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		t->thread_ns = 0;
		if (writes)
			json_open(t->j, '[');
		err = timeline__walk(t->p->timeline, threads[i], visit, t);
		if (writes)
			json_close(t->j, ']');
	}
	return err;
}

int page_calls__write(struct json *j, const struct profile *p, const uint32_t *threads, size_t cnt,
		      const uint32_t *paths)
{
	struct thinning t = {.j = j, .p = p, .paths = paths};
	int err;

	if (!p->timeline) {
		json_null(j);
		return 0;
	}
	err = walk_threads(&t, threads, cnt, count_call, false);
	if (err)
		return err;
	choose_least(&t);
	json_open(j, '{');
	json_member_u64(j, "lost", p->timeline->lost);
	json_member_u64(j, "calls", t.calls);
	json_member_u64(j, "least", bucket__low(t.least));
	json_member_open(j, "threads", '[');
	err = walk_threads(&t, threads, cnt, write_call, true);
	json_close(j, ']');
	json_close(j, '}');
	return err == STREAM_FAILED ? 0 : err;
}
