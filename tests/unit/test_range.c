// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "range_fixture.h"

/* main from 100 to 10000, which calls work three times; work waits. Probes are half of work's time
 * on the CPU, and nothing of main's. */
static struct profile *make_small(void)
{
	struct profile *p = fixture_new();
	uint32_t m, w;

	fixture_function(p, "main");
	fixture_function(p, "work");
	fixture_function(p, "never");
	fixture_thread(p, 1, 1, "x");
	fixture_thread(p, 1, 2, "other");
	m = fixture_node(p, 0, 0, 0, 1, 9650, 6900);
	w = fixture_node(p, 0, m, 1, 3, 2750, 2750);
	fixture_node(p, 1, 0, 1, 1, 100, 100);
	p->nodes[m].stats.raw_total_ns = 9900;
	p->nodes[m].stats.raw_self_ns = 6900;
	p->nodes[w].stats.raw_total_ns = p->nodes[w].stats.raw_self_ns = 3000;
	p->nodes[w].stats.off_ns = p->nodes[w].stats.off_self_ns = 2500;
	p->nodes[w].stats.self_error_ns = 50;
	p->nodes[m].stats.off_ns = 2500;
	add_call(0, (struct timeline_call){m, 100, 10000, 2500});
	add_call(0, (struct timeline_call){w, 1000, 2000, 1000});
	add_call(0, (struct timeline_call){w, 3000, 4000, 500});
	add_call(0, (struct timeline_call){w, 5000, 6000, 1000});
	add_call(1, (struct timeline_call){3, 200, 300, 0});
	p->duration_ns = 10000;
	p->start_time = 5;
	p->accounting.lost = 3;
	p->accounting.unwound = 1;
	p->accounting.returned -= 1;
	p->accounting.probe_ns = 500;
	p->accounting.undistributed = 2;
	fixture_finish(p);
	set_timeline(p);
	return p;
}

static void test_figures(void **state)
{
	struct profile *p = make_small();
	const struct call_stats *s;

	cut(p, 2500, 5500);
	assert_string_equal(timeline_text(p->timeline, 0),
			    "1:0-3000/757 2:500-1500/500 2:2500-3000/500 ");
	assert_int_equal(p->nodes_cnt, 3);
	assert_int_equal(p->threads_cnt, 2);
	assert_int_equal(p->threads[1].first_root, 0);
	s = &p->nodes[2].stats;
	assert_int_equal(s->calls, 2);
	assert_int_equal(s->raw_self_ns, 1500);
	assert_int_equal(s->off_self_ns, 1000);
	assert_int_equal(s->self_ns, 1250);
	assert_int_equal(s->self_error_ns, 50);
	assert_int_equal(s->total_ns, 1250);
	/* One call lies in the range as a whole: half of its 500 ns on the CPU. */
	assert_int_equal(s->min_ns, 750);
	assert_int_equal(s->max_ns, 750);
	assert_int_equal(p->buckets_cnt, 1);
	assert_int_equal(p->buckets[0].function, 1);
	assert_int_equal(p->buckets[0].bucket, bucket__of(750));
	assert_int_equal(p->buckets[0].calls, 1);
	s = &p->nodes[1].stats;
	assert_int_equal(s->calls, 1);
	assert_int_equal(s->raw_self_ns, 1500);
	assert_int_equal(s->self_ns, 1500);
	assert_int_equal(s->total_ns, 2750);
	assert_int_equal(s->off_ns, 1000);
	assert_int_equal(s->min_ns, UINT64_MAX);
	assert_int_equal(s->max_ns, 0);
	assert_int_equal(p->functions_cnt, 3);
	profile__free(p);
}

/* Single calls are without what probes cost in them and below. */
static void test_durations(void **state)
{
	struct profile *p = make_small();

	p->duration_ns = 20000;
	p->paused_ns = 4000;
	cut(p, 0, UINT64_MAX);
	assert_int_equal(p->paused_ns, 4000);
	assert_int_equal(p->nodes[1].stats.total_ns, 9650);
	assert_int_equal(p->nodes[1].stats.min_ns, 9650);
	assert_int_equal(p->nodes[1].stats.max_ns, 9650);
	assert_int_equal(p->nodes[2].stats.min_ns, 750);
	assert_int_equal(p->nodes[2].stats.max_ns, 1000);
	assert_int_equal(distribution__of(p, 1).calls, 4);
	profile__free(p);
}

static void test_accounts(void **state)
{
	struct profile *p = make_small();

	p->paused_ns = 4000;
	cut(p, 2500, 5500);
	assert_int_equal(p->paused_ns, 0);
	assert_int_equal(p->accounting.entered, 3);
	assert_int_equal(p->accounting.open, 2);
	assert_int_equal(p->accounting.returned, 1);
	assert_int_equal(p->accounting.unwound, 0);
	assert_int_equal(p->accounting.timeline_calls, 3);
	assert_int_equal(p->accounting.lost, 3);
	assert_int_equal(p->accounting.probe_ns, 500);
	assert_int_equal(p->accounting.undistributed, 0);
	assert_int_equal(p->duration_ns, 3000);
	assert_true(p->start_time > 5.0000024 && p->start_time < 5.0000026);
	profile__free(p);
	/* Calls that are still open at the run's end have not returned. */
	range_teardown(NULL);
	p = make_small();
	cut(p, 0, UINT64_MAX);
	assert_int_equal(p->accounting.entered, 5);
	assert_int_equal(p->accounting.open, 1);
	assert_int_equal(p->nodes[1].stats.min_ns, UINT64_MAX);
	profile__free(p);
}

static void test_a_range_of_a_range(void **state)
{
	struct profile *p = make_small();

	cut(p, 1000, 7000);
	cut(p, 1500, 4500);
	assert_string_equal(timeline_text(p->timeline, 0),
			    "1:0-3000/757 2:500-1500/500 2:2500-3000/500 ");
	assert_int_equal(p->nodes[2].stats.calls, 2);
	assert_int_equal(p->nodes[2].stats.self_ns, 1250);
	profile__free(p);
}

/* work's call is missing, what it has called is not: its path stays, without calls. */
static void test_lost_calls(void **state)
{
	struct profile *p = make_small();
	uint32_t leaf = fixture_node(p, 0, 2, 2, 1, 100, 100);

	fixture_finish(p);
	range_teardown(NULL);
	add_call(0, (struct timeline_call){1, 100, 10000, 0});
	add_call(0, (struct timeline_call){leaf, 1000, 1100, 0});
	set_timeline(p);
	cut(p, 0, 5000);
	assert_int_equal(p->nodes_cnt, 4);
	assert_int_equal(p->nodes[2].stats.calls, 0);
	assert_int_equal(p->nodes[2].stats.self_ns, 0);
	assert_int_equal(p->nodes[2].stats.total_ns, 100);
	assert_int_equal(p->nodes[1].stats.self_ns, 4800);
	assert_int_equal(p->nodes[1].stats.total_ns, 4900);
	profile__free(p);
}

/* From its drop on one call in ten was kept: each stands for ten, whose time is not main's. */
static void test_sampled(void **state)
{
	struct profile *p = make_small();

	fixture_drop(p, (struct profile_drop){.function = 1, .at_ns = 2500, .sampled = 10});
	fixture_drop(p, (struct profile_drop){.function = 2, .at_ns = 9000, .sampled = 10});
	p->functions[1].sampled = p->functions[2].sampled = 10;
	cut(p, 1000, 4500);
	assert_int_equal(p->nodes[2].stats.calls, 11);
	/* 1,000 ns before, 750 ns without probes, of which 500 off the CPU, and nine more of that.
	 */
	assert_int_equal(p->nodes[2].stats.raw_self_ns, 1000 + 1000 + 9 * 750);
	assert_int_equal(p->nodes[2].stats.off_self_ns, 1000 + 10 * 500);
	assert_int_equal(p->nodes[1].stats.raw_self_ns, 0);
	assert_int_equal(distribution__of(p, 1).calls, 11);
	assert_int_equal(p->accounting.entered, 3);
	/* Drops after the range's end are left out. */
	assert_int_equal(p->drops_cnt, 1);
	assert_int_equal(p->drops[0].at_ns, 1500);
	assert_int_equal(p->functions[1].sampled, 10);
	assert_int_equal(p->functions[2].sampled, 0);
	profile__free(p);
	range_teardown(NULL);
	p = make_small();
	fixture_drop(p, (struct profile_drop){.function = 1, .at_ns = 2500});
	fixture_drop(p, (struct profile_drop){.function = 2, .at_ns = 2500, .back_ns = 4500});
	fixture_drop(p, (struct profile_drop){.function = 2, .at_ns = 5000, .back_ns = 6000});
	cut(p, 4500, UINT64_MAX);
	assert_int_equal(p->drops_cnt, 2);
	assert_int_equal(p->drops[1].at_ns, 500);
	assert_int_equal(p->drops[1].back_ns, 1500);
	assert_int_equal(p->drops[0].at_ns, 0);
	assert_int_equal(p->nodes[2].stats.calls, 1);
	profile__free(p);
}

static void test_after_the_end(void **state)
{
	struct profile *p = make_small();

	assert_int_equal(profile__cut(p, &(struct time_range){10000, 20000}), -ERANGE);
	/* The profile is as it was. */
	assert_int_equal(p->nodes_cnt, 4);
	assert_int_equal(p->duration_ns, 10000);
	cut(p, 9999, 20000);
	assert_int_equal(p->nodes[1].stats.calls, 1);
	assert_int_equal(p->duration_ns, 1);
	profile__free(p);
	/* The last profile of a cut file may be older than its last calls. */
	range_teardown(NULL);
	p = make_small();
	p->duration_ns = 4500;
	cut(p, 5000, UINT64_MAX);
	assert_int_equal(p->duration_ns, 5000);
	assert_int_equal(p->accounting.open, 0);
	profile__free(p);
}

static void test_nothing_in_it(void **state)
{
	struct profile *p = make_small();

	cut(p, 10, 90);
	assert_int_equal(p->nodes_cnt, 1);
	assert_int_equal(p->buckets_cnt, 0);
	assert_int_equal(p->accounting.entered, 0);
	assert_int_equal(p->duration_ns, 80);
	assert_string_equal(timeline_text(p->timeline, 0), "");
	profile__free(p);
}

static void test_bad_calls(void **state)
{
	static const uint32_t nodes[] = {0, 4, UINT32_MAX};

	for (size_t i = 0; i < 3; i++) {
		struct profile *p;

		range_teardown(NULL);
		p = make_small();
		calls[1].node = nodes[i];
		assert_int_equal(profile__cut(p, &(struct time_range){0, UINT64_MAX}), -EINVAL);
		profile__free(p);
	}
}

/* Figures of damaged files: nothing wraps around. */
static void test_odd_figures(void **state)
{
	struct profile *p = make_small();

	range_teardown(NULL);
	add_call(0, (struct timeline_call){1, 0, UINT64_MAX, UINT64_MAX});
	add_call(0, (struct timeline_call){2, 5, 3, UINT64_MAX});
	add_call(0, (struct timeline_call){2, 6, UINT64_MAX, 5});
	add_call(1, (struct timeline_call){3, 1, UINT64_MAX - 1, 7});
	set_timeline(p);
	p->nodes[2].stats.self_ns = 4000; /* more than as measured */
	p->nodes[2].stats.self_error_ns = INT64_MAX;
	p->nodes[3].stats.off_self_ns = INT64_MAX;
	cut(p, 0, UINT64_MAX);
	expect_sums(p);
	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		assert_true(p->nodes[i].stats.total_ns <= INT64_MAX);
		assert_true(p->nodes[i].stats.error_ns <= INT64_MAX);
	}
	assert_int_equal(p->nodes[2].stats.calls, 2);
	profile__free(p);
}

static int broken_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	return -EBADMSG;
}

static void test_error(void **state)
{
	struct profile *p = make_small();

	timeline.base.next = broken_next;
	assert_int_equal(profile__cut(p, &(struct time_range){0, 100}), -EBADMSG);
	profile__free(p);
}

static void test_depth(void **state)
{
	const uint32_t depth = 200000;
	struct profile *p = fixture_new();
	struct timeline_call *deep = calloc(depth, sizeof(*deep));
	uint32_t *one = calloc(depth, sizeof(*one)), n = 0;

	assert_true(deep && one);
	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	for (uint32_t i = 0; i < depth; i++) {
		n = fixture_node(p, 0, n, 0, 1, 1, 1);
		deep[i] = (struct timeline_call){n, i, 3 * depth - i, 0};
	}
	p->duration_ns = 4 * depth;
	fixture_finish(p);
	timeline_array__init(&timeline, deep, one, depth);
	p->timeline = &timeline.base;
	cut(p, 10, 2 * depth);
	assert_int_equal(p->nodes_cnt, 1 + depth);
	assert_int_equal(p->nodes[1].stats.raw_total_ns, 2 * depth - 10);
	assert_int_equal(p->nodes[11].stats.raw_self_ns, 1);
	assert_int_equal(p->nodes[depth].stats.raw_total_ns, depth + 1);
	profile__free(p);
	free(deep);
	free(one);
}

#define TEST(f) cmocka_unit_test_teardown(f, range_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_figures),	  TEST(test_durations),
		TEST(test_accounts),	  TEST(test_a_range_of_a_range),
		TEST(test_lost_calls),	  TEST(test_sampled),
		TEST(test_after_the_end), TEST(test_nothing_in_it),
		TEST(test_bad_calls),	  TEST(test_odd_figures),
		TEST(test_error),	  TEST(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
