// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "timeline_fixture.h"
#include "timeline/timeline_view.h"
#include "views/delta.h"
#include "views/merge.h"

static const struct timeline_call calls[] = {
	{1, 0, 1000, 500}, {2, 100, 300, 20}, {3, 100, 150, 0},	  {2, 300, 300, 0},
	{2, 350, 400, 50}, {4, 7, 9, 0},      {2, 400, 600, 100}, {3, 600, 600, 0},
};
static const uint32_t threads[] = {0, 0, 0, 0, 0, 1, 0, 0};
static struct timeline_array array;
static int freed;

static void count_free(struct timeline *t)
{
	freed++;
}

static int setup(void **state)
{
	timeline_array__init(&array, calls, threads, 8);
	array.base.free = count_free;
	array.base.lost = 17;
	freed = 0;
	return 0;
}

static uint32_t *numbers(uint32_t of1, uint32_t of2, uint32_t of3)
{
	uint32_t *into = calloc(4, sizeof(*into));

	assert_non_null(into);
	into[0] = 99; /* no call is of node 0, or shows as what it maps to */
	into[1] = of1;
	into[2] = of2;
	into[3] = of3;
	return into;
}

static void expect(struct timeline_view v, const char *first, const char *second)
{
	struct timeline *t = &array.base;

	assert_int_equal(timeline__view(&t, &v), 0);
	assert_ptr_not_equal(t, &array.base);
	assert_int_equal(t->lost, 17);
	/* Twice: a view can be walked again and again. */
	for (int i = 0; i < 2; i++) {
		assert_string_equal(timeline_text(t, 0), first);
		assert_string_equal(timeline_text(t, 1), second);
	}
	timeline__free(t);
	assert_int_equal(freed, 1);
	freed = 0;
}

static void test_all(void **state)
{
	expect((struct timeline_view){0},
	       "1:0-1000/500 2:100-300/20 3:100-150/0 2:300-300/0 2:350-400/50 2:400-600/100 "
	       "3:600-600/0 ",
	       "4:7-9/0 ");
}

static void test_nodes(void **state)
{
	/* Node 4 has no number: it is not shown. */
	expect((struct timeline_view){.into = numbers(2, 0, 1), .into_cnt = 4},
	       "2:0-1000/500 1:100-150/0 1:600-600/0 ", "");
}

static void test_shortest(void **state)
{
	expect((struct timeline_view){.min_ns = 51}, "1:0-1000/500 2:100-300/20 2:400-600/100 ",
	       "");
	expect((struct timeline_view){.min_ns = 50},
	       "1:0-1000/500 2:100-300/20 3:100-150/0 2:350-400/50 2:400-600/100 ", "");
}

static void test_range(void **state)
{
	/* A call that only touches the beginning has no part; one that begins there has, but not
	 * one that begins at the end. Waiting is divided. */
	expect((struct timeline_view){.range = {300, 600}},
	       "1:0-300/150 2:0-0/0 2:50-100/50 2:100-300/100 ", "");
	expect((struct timeline_view){.range = {150, 350}}, "1:0-200/100 2:0-150/15 2:150-150/0 ",
	       "");
	expect((struct timeline_view){.range = {600, UINT64_MAX}}, "1:0-400/200 3:0-0/0 ", "");
	expect((struct timeline_view){.range = {0, 9}}, "1:0-9/4 ", "4:7-9/0 ");
	expect((struct timeline_view){.range = {1000, 2000}}, "", "");
	/* How long a call takes in the range is what counts. */
	expect((struct timeline_view){.range = {290, 500}, .min_ns = 50},
	       "1:0-210/105 2:60-110/50 2:110-210/50 ", "");
}

static void test_views_over_views(void **state)
{
	struct timeline *t = &array.base;

	assert_int_equal(timeline__view(&t, &(struct timeline_view){.range = {100, 1000}}), 0);
	assert_int_equal(timeline__view(&t, &(struct timeline_view){.range = {250, 500},
								    .into = numbers(3, 2, 1),
								    .into_cnt = 4}),
			 0);
	assert_string_equal(timeline_text(t, 0), "3:0-250/125 2:0-50/50 2:50-250/100 ");
	timeline__free(t);
	assert_int_equal(freed, 1);
}

static void test_none(void **state)
{
	struct timeline *t = NULL;

	assert_int_equal(timeline__view(&t, &(struct timeline_view){.into = numbers(1, 2, 3)}), 0);
	assert_null(t);
	timeline__free(NULL);
}

/* Times that no clock makes, as damaged files may have them. */
static void test_odd_times(void **state)
{
	static const struct timeline_call odd[] = {
		{1, 10, 5, 7}, {1, 20, UINT64_MAX, UINT64_MAX}, {1, UINT64_MAX, UINT64_MAX, 1}};
	static const uint32_t all[3];

	timeline_array__init(&array, odd, all, 3);
	array.base.free = count_free;
	array.base.lost = 17;
	expect((struct timeline_view){.range = {0, 30}}, "1:10-10/7 1:20-30/10 ", "");
	expect((struct timeline_view){.range = {7, UINT64_MAX}},
	       "1:3-3/7 1:13-18446744073709551608/18446744073709551615 ", "");
}

static int broken_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	*call = calls[0];
	return ((struct timeline_array *)t)->at++ ? -EBADMSG : 1;
}

static int broken_rewind(struct timeline *t, uint32_t thread)
{
	return -EIO;
}

static void test_errors(void **state)
{
	struct timeline *t = &array.base;

	assert_int_equal(timeline__view(&t, &(struct timeline_view){.min_ns = 1}), 0);
	array.base.next = broken_next;
	assert_string_equal(timeline_text(t, 0), "1:0-1000/500 error -74");
	array.base.rewind = broken_rewind;
	assert_int_equal(t->rewind(t, 0), -EIO);
	timeline__free(t);
}

/* The view's numbers are those of the profile that owns it, not those of copies. */
static void test_copies_of_a_profile_have_none(void **state)
{
	struct profile *p = fixture_small(), *delta, *merged;

	p->timeline = &array.base;
	assert_int_equal(profile__delta(p, NULL, &delta), 0);
	assert_int_equal(profile__merge_threads(p, MERGE_COMM, &merged), 0);
	assert_null(delta->timeline);
	assert_null(merged->timeline);
	profile__free(delta);
	profile__free(merged);
	assert_int_equal(freed, 0);
	profile__free(p);
	assert_int_equal(freed, 1);
}

static int check_off(const struct timeline_event *e, void *cnt)
{
	assert_true(e->call->off_ns <= e->call->leave_ns - e->call->enter_ns);
	++*(int *)cnt;
	return 0;
}

/* If calls are cut to fit, so is their time off the CPU. */
static void test_walk_cuts_waiting(void **state)
{
	static const struct timeline_call calls[] = {{1, 0, 10, 0}, {2, 4, 30, 20}, {2, 9, 10, 1}};
	static const uint32_t threads[3];
	struct timeline_array a;
	int cnt = 0;

	timeline_array__init(&a, calls, threads, 3);
	assert_int_equal(timeline__walk(&a.base, 0, check_off, &cnt), 0);
	assert_int_equal(cnt, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all, setup),
		cmocka_unit_test_setup(test_nodes, setup),
		cmocka_unit_test_setup(test_shortest, setup),
		cmocka_unit_test_setup(test_range, setup),
		cmocka_unit_test_setup(test_views_over_views, setup),
		cmocka_unit_test_setup(test_none, setup),
		cmocka_unit_test_setup(test_odd_times, setup),
		cmocka_unit_test_setup(test_errors, setup),
		cmocka_unit_test_setup(test_copies_of_a_profile_have_none, setup),
		cmocka_unit_test(test_walk_cuts_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
