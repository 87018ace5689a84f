// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls for the page. A browser holds what it shows in memory, so there are at most
 * PLACES_MAX of them, and fewer where they have values: of more, the longest. A first walk counts
 * calls by duration to find how long these are; a second writes them. As callees are never longer
 * than their caller, what is left out is below what is shown, but for calls of just that length: of
 * these one in so many is kept.
 */
#include <stdbool.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "calls/values.h"
#include "sink/page/page.h"
#include "sink/value_json.h"
#include "timeline/timeline.h"
#include "util/json.h"

#define PLACES_MAX    500000 /* some 8 MB of page */
#define PLACE	      16     /* bytes: about what a call takes without values */
#define STREAM_FAILED 1	     /* ends a walk; the stream knows why */

struct thinning {
	struct json *j;
	const struct profile *p;
	const struct page_numbers *numbers;
	uint64_t by_bucket[BUCKETS]; /* places */
	uint64_t calls, places;	     /* of all that have a path in the document */
	uint32_t least;		     /* bucket of the shortest calls that are kept */
	uint64_t one_in;	     /* of that class; 0: none */
	uint64_t at_least;	     /* calls of it seen so far */
	uint64_t room;		     /* places that are left for it */
	uint64_t thread_ns;	     /* where the thread's last written call began */
};

/* The number of a call's path, plus one; 0 if it is not in the document. */
static uint32_t path_of(const struct thinning *t, const struct timeline_event *event)
{
	uint32_t node = event->call->node;

	return event->begins && node < t->p->nodes_cnt ? t->numbers->paths[node] : 0;
}

static uint64_t duration_of(const struct timeline_event *event)
{
	uint64_t leave_ns = event->call->leave_ns;

	return leave_ns > event->at_ns ? leave_ns - event->at_ns : 0;
}

/* How many calls without values take as much room as this one. */
static uint64_t places_of(const struct timeline_call *call)
{
	size_t bytes = PLACE;

	for (uint32_t i = 0; i < call->values_cnt; i++) {
		const struct call_value *v = &call->values[i];

		bytes += v->kind == VALUE_TEXT ? strlen(v->text) + sizeof("\"\"") : PLACE / 2;
	}
	return (bytes + PLACE - 1) / PLACE;
}

static int count_call(const struct timeline_event *event, void *ctx)
{
	struct thinning *t = ctx;

	if (path_of(t, event)) {
		uint64_t places = places_of(event->call);

		t->by_bucket[bucket__of(duration_of(event))] += places;
		t->places += places;
		t->calls++;
	}
	return 0;
}

static void choose_least(struct thinning *t)
{
	t->room = PLACES_MAX;
	t->one_in = 1;
	if (t->places <= t->room)
		return;
	for (t->least = BUCKETS - 1; t->by_bucket[t->least] <= t->room; t->least--)
		t->room -= t->by_bucket[t->least];
	t->one_in = t->room ? (t->by_bucket[t->least] + t->room - 1) / t->room : 0;
}

static bool is_kept(struct thinning *t, const struct timeline_event *event)
{
	uint32_t bucket = bucket__of(duration_of(event));
	uint64_t places;

	if (bucket != t->least)
		return bucket > t->least;
	places = places_of(event->call);
	if (!t->one_in || t->at_least++ % t->one_in || places > t->room)
		return false;
	t->room -= places;
	return true;
}

/* A number is one if the page can hold it, else an array of the text that it is to be shown as. */
static void write_value(struct json *j, const struct call_value *v, bool hex)
{
	char buf[VALUE_TEXT_LEN];

	if (v->kind == VALUE_NONE) {
		json_null(j);
	} else if (v->kind == VALUE_TEXT) {
		json_string(j, v->text);
	} else if (!value_json__number(j, v, hex)) {
		json_open(j, '[');
		json_string(j, call_value__text(v, hex, buf));
		json_close(j, ']');
	}
}

static void write_values(const struct thinning *t, const struct timeline_call *call)
{
	uint32_t cnt;
	const struct profile_argument *args =
		profile__arguments(t->p, t->p->nodes[call->node].function, &cnt);

	json_open(t->j, '[');
	for (uint32_t i = 0; i < cnt && i < call->values_cnt; i++)
		write_value(t->j, &call->values[i], argument__is_hex(&args[i]));
	json_close(t->j, ']');
}

/* Four numbers a call: how much later than the one before it began, how long it took, how much of
 * that off a CPU, and its path. If it has values, an array of them follows. */
static int write_call(const struct timeline_event *event, void *ctx)
{
	struct thinning *t = ctx;
	uint64_t duration_ns = duration_of(event), off_ns = event->call->off_ns;
	uint32_t path = path_of(t, event);

	if (!path || !is_kept(t, event))
		return 0;
	json_u64(t->j, event->at_ns - t->thread_ns);
	json_u64(t->j, duration_ns);
	json_u64(t->j, off_ns < duration_ns ? off_ns : duration_ns);
	json_u64(t->j, path - 1);
	if (event->call->values_cnt)
		write_values(t, event->call);
	t->thread_ns = event->at_ns;
	return ferror_unlocked(t->j->out) ? STREAM_FAILED : 0;
}

static int walk_threads(struct thinning *t, timeline_visitor visit, bool writes)
{
	int err = 0;

	for (size_t i = 0; i < t->numbers->threads_cnt && !err; i++) {
		t->thread_ns = 0;
		if (writes)
			json_open(t->j, '[');
		err = timeline__walk(t->p->timeline, t->numbers->threads[i], visit, t);
		if (writes)
			json_close(t->j, ']');
	}
	return err;
}

/* Writes the number of each function whose calls have values, and the values' names. */
static void write_arguments(const struct thinning *t)
{
	const struct profile *p = t->p;
	uint32_t cnt;

	if (!p->arguments_cnt)
		return;
	json_member_open(t->j, "arguments", '[');
	for (size_t i = 0; i < p->arguments_cnt; i += cnt) {
		uint32_t function = p->arguments[i].function;
		const struct profile_argument *args = profile__arguments(p, function, &cnt);

		if (!t->numbers->functions[function])
			continue;
		json_open(t->j, '[');
		json_u64(t->j, t->numbers->functions[function] - 1);
		for (uint32_t k = 0; k < cnt; k++)
			json_string(t->j, args[k].name);
		json_close(t->j, ']');
	}
	json_close(t->j, ']');
}

int page_calls__write(struct json *j, const struct profile *p, const struct page_numbers *n)
{
	struct thinning t = {.j = j, .p = p, .numbers = n};
	int err;

	if (!p->timeline) {
		json_null(j);
		return 0;
	}
	err = walk_threads(&t, count_call, false);
	if (err)
		return err;
	choose_least(&t);
	json_open(j, '{');
	json_member_u64(j, "lost", p->timeline->lost);
	json_member_u64(j, "calls", t.calls);
	json_member_u64(j, "least", bucket__low(t.least));
	write_arguments(&t);
	json_member_open(j, "threads", '[');
	err = walk_threads(&t, write_call, true);
	json_close(j, ']');
	json_close(j, '}');
	return err == STREAM_FAILED ? 0 : err;
}
