// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits on the tracks of sessions, and the arrows between them. */
#include <inttypes.h>

#include "fixture.h"
#include "sink/tools/wait_slices.h"
#include "timeline/waits.h"
#include "timeline_array.h"

static const struct recorded_path paths[] = {
	{.parent = 0, .function = 0}, /* handle */
	{.parent = 0, .function = 1}, /* flush */
};

struct printer {
	struct wait_slices *s;
	FILE *out;
	uint32_t depth;
};

static int print(const struct wait_slice *s, void *ctx)
{
	struct printer *p = ctx;

	if (s->kind == SLICE_END) {
		p->depth--;
		fprintf(p->out, "%" PRIu64 " end\n", s->at_ns);
		return 0;
	}
	fprintf(p->out, "%" PRIu64 " %s", s->at_ns, s->name);
	if (*s->waker)
		fprintf(p->out, " (%s)", s->waker);
	if (s->flow)
		fprintf(p->out, s->kind == SLICE_WAKE ? " %" PRIu64 "->" : " ->%" PRIu64, s->flow);
	fputs("\n", p->out);
	p->depth += s->kind == SLICE_BEGIN;
	return 0;
}

static int print_until(const struct timeline_event *e, void *ctx)
{
	struct printer *p = ctx;

	return wait_slices__until(p->s, e->at_ns, e->depth + !e->begins, print, p);
}

/* All tracks, with a line each. The caller frees it. */
static char *print_tracks(struct profile *p)
{
	struct wait_slices s;
	struct printer to = {.s = &s};
	char *text = NULL;
	size_t size;

	to.out = open_memstream(&text, &size);
	assert_int_equal(wait_slices__init(&s, p), 0);
	for (size_t i = 0; i < p->threads_cnt + s.flows.asides_cnt; i++) {
		wait_slices__turn(&s, i);
		fprintf(to.out, "track %zu\n", i);
		if (i < p->threads_cnt)
			assert_int_equal(timeline__walk(p->timeline, i, print_until, &to), 0);
		assert_int_equal(wait_slices__until(&s, UINT64_MAX, 0, print, &to), 0);
		assert_int_equal(to.depth, 0);
	}
	for (size_t i = 0; i < s.flows.asides_cnt; i++) {
		const struct wait_party *party = &p->waits->parties[s.flows.asides[i]];

		fprintf(to.out, "aside %s-%d/%d\n", party->comm, party->pid, party->tid);
	}
	wait_slices__fini(&s);
	fclose(to.out);
	return text;
}

static const struct recorded_party server = {7, 8, 1, 1, "server"}, worker = {7, 9, 2, 1, "worker"},
				   writer = {7, 10, 3, 2, "writer"}, other = {3, 3, 0, 0, "other"};

/* Woken 100 ns before it goes on. */
static void add_wait(struct profile *p, uint64_t begin_ns, uint64_t end_ns, uint32_t thread,
		     struct recorded_party at, struct recorded_party waker)
{
	const struct recorded_wait wait = {
		.begin_ns = begin_ns,
		.took_ns = end_ns - begin_ns,
		.ready_ns = 100,
		.reason = WAIT_PIPE,
		.at = at,
		.waker = waker,
	};

	assert_int_equal(waits__add(p->waits, &wait, thread), 0);
}

static const struct timeline_call calls[] = {
	{1, 1000, 9000, 0}, {2, 4000, 8000, 0}, {3, 2000, 8500, 0}};
static const uint32_t threads[] = {0, 1, 2};

/* Two sessions, and the threads that they are on: the second one has a part of the first one in
 * it, if they have titles. */
static struct profile *make(struct timeline_array *timeline, bool sessions)
{
	struct profile *p = fixture_new();

	fixture_function(p, "handle");
	fixture_function(p, "flush");
	fixture_thread(p, 7, 8, "server");
	fixture_thread(p, 7, 9, "worker");
	fixture_thread(p, 7, sessions ? 9 : 10, sessions ? "worker" : "writer");
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const titles[] = {
			"session 1: 8 us", "session 1: 8 us, in thread 9", "session 2: 6 us"};

		fixture_node(p, i, 0, 0, 1, 4000, 4000);
		if (sessions)
			strcpy(p->threads[i].title, titles[i]);
	}
	fixture_finish(p);
	timeline_array__init(timeline, calls, threads, 3);
	p->timeline = &timeline->base;
	p->waits = calloc(1, sizeof(*p->waits));
	assert_non_null(p->waits);
	return p;
}

static void expect(struct profile *p, const char *expected)
{
	char *text;

	assert_int_equal(waits__settle(p->waits, paths, 2), 0);
	text = print_tracks(p);
	assert_string_equal(text, expected);
	free(text);
	profile__free(p);
}

/* The worker wakes the server out of the innermost of its two sessions; the server's arrow to the
 * worker ends there, too, though the wait is shown in both. */
static void test_sessions(void **state)
{
	struct timeline_array timeline;
	struct profile *p = make(&timeline, true);

	add_wait(p, 2500, 4500, 1, server, worker);
	add_wait(p, 6500, 7000, 2, worker, server);
	add_wait(p, 8100, 8300, 2, worker, server);
	add_wait(p, 9500, 9600, 1, server, worker); /* in no session */
	expect(p, "track 0\n"
		  "2500 [pipe] (worker: handle)\n4400 [cpu] ->1\n4500 end\n4500 end\n"
		  "6900 wakes session 1: 8 us, in thread 9 (handle) 3->\n"
		  "8200 wakes session 2: 6 us (handle) 4->\n"
		  "track 1\n"
		  "4400 wakes session 1: 8 us (handle) 1->\n"
		  "6500 [pipe] (server: handle)\n6900 [cpu] ->3\n7000 end\n7000 end\n"
		  "track 2\n"
		  "6500 [pipe] (server: handle)\n6900 [cpu]\n7000 end\n7000 end\n"
		  "8100 [pipe] (server: handle)\n8200 [cpu] ->4\n8300 end\n8300 end\n");
}

/* The writer, in no session, waits for another process meanwhile, as it has done before. */
static void test_wakers(void **state)
{
	struct timeline_array timeline;
	struct profile *p = make(&timeline, true);

	add_wait(p, 5000, 6000, 1, server, writer);
	add_wait(p, 3000, 4800, 0, writer, other);
	add_wait(p, 5100, 5800, 0, writer, other);
	add_wait(p, 1200, 1500, 0, other, writer);
	expect(p, "track 0\n"
		  "5000 [pipe] (writer: flush)\n5900 [cpu] ->1\n6000 end\n6000 end\n"
		  "track 1\ntrack 2\n"
		  "track 3\n"
		  "5700 wakes writer 3->\n"
		  "track 4\n"
		  "5100 [pipe] (other)\n5700 [cpu] ->3\n5800 end\n5800 end\n"
		  "5900 wakes session 1: 8 us (flush) 1->\n"
		  "aside other-3/3\naside writer-7/10\n");
}

/* Without sessions, threads have their tracks, and no others have any. */
static void test_threads(void **state)
{
	struct timeline_array timeline;
	struct profile *p = make(&timeline, false);

	add_wait(p, 5000, 6000, 1, server, writer);
	add_wait(p, 5100, 5800, 0, writer, other);
	add_wait(p, 6100, 6500, 3, writer, server);
	expect(p, "track 0\n"
		  "5000 [pipe] (writer: flush)\n5900 [cpu] ->1\n6000 end\n6000 end\n"
		  "6400 wakes writer (handle) 3->\n"
		  "track 1\n"
		  "track 2\n"
		  "5100 [pipe] (other)\n5700 [cpu]\n5800 end\n5800 end\n"
		  "5900 wakes server (flush) 1->\n"
		  "6100 [pipe] (server: handle)\n6400 [cpu] ->3\n6500 end\n6500 end\n");
}

/* Two threads that wait for each other, as a file may claim: each wait is marked once. */
static void test_circle(void **state)
{
	struct timeline_array timeline;
	struct profile *p = make(&timeline, true);

	add_wait(p, 2000, 8000, 1, server, writer);
	add_wait(p, 3000, 7000, 0, writer, other);
	add_wait(p, 2500, 7500, 0, other, writer);
	expect(p, "track 0\n"
		  "2000 [pipe] (writer: flush)\n7900 [cpu] ->1\n8000 end\n8000 end\n"
		  "track 1\ntrack 2\n"
		  "track 3\n"
		  "2500 [pipe] (writer: flush)\n7400 [cpu] ->3\n7500 end\n7500 end\n"
		  "6900 wakes writer 2->\n"
		  "track 4\n"
		  "3000 [pipe] (other)\n6900 [cpu] ->2\n7000 end\n7000 end\n"
		  "7400 wakes other (flush) 3->\n"
		  "7900 wakes session 1: 8 us (flush) 1->\n"
		  "aside other-3/3\naside writer-7/10\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_wakers),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
