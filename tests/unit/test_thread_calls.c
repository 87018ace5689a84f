// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/thread_calls.h"

#include "fixture.h"
#include "timeline_fixture.h"

enum { RUN, STEP };

/* A thread that calls `run` three times, the first and the last time with `step` in it. */
static void expect(uint64_t at_ns, struct time_window *windows, size_t windows_cnt,
		   struct held_place expected)
{
	static const struct timeline_call calls[] = {
		{1, 100, 200, 0}, {2, 120, 180, 0}, {1, 300, 400, 0},
		{1, 500, 600, 0}, {2, 520, 580, 0},
	};
	static const uint32_t threads[] = {0, 0, 0, 0, 0};
	struct profile *p = fixture_new();
	struct timeline_array timeline;
	struct thread_calls held;
	struct held_place place;
	uint32_t run = fixture_function(p, "run"), step = fixture_function(p, "step");
	uint32_t t = fixture_thread(p, 7, 8, "worker");

	fixture_node(p, t, fixture_node(p, t, 0, run, 3, 300, 180), step, 2, 120, 120);
	fixture_finish(p);
	timeline_array__init(&timeline, calls, threads, 5);
	p->timeline = &timeline.base;
	assert_int_equal(thread_calls__read(p, windows, windows_cnt, &held), 0);
	place = thread_calls__before(&held, 7, 8, at_ns);
	assert_int_equal(place.function, expected.function);
	assert_int_equal(place.caller, expected.caller);
	assert_int_equal(place.since_ns, expected.since_ns);
	thread_calls__fini(&held);
	profile__free(p);
}

#define NO UINT32_MAX

static void expect_in(uint64_t at_ns, struct time_window window, struct held_place expected)
{
	expect(at_ns, &window, 1, expected);
}

static void test_amid_a_call(void **state)
{
	expect_in(150, (struct time_window){140, 160}, (struct held_place){STEP, RUN, 120});
	expect_in(350, (struct time_window){340, 360}, (struct held_place){RUN, NO, 300});
}

/* A thread that has called nothing since 200, or 400, is known to have done so by the call that
 * ended then, whatever other windows there are. */
static void test_between_calls(void **state)
{
	struct time_window two[] = {{110, 115}, {240, 260}}, more[] = {{240, 260}, {440, 460}};

	expect_in(250, (struct time_window){240, 260}, (struct held_place){NO, NO, 200});
	expect(250, two, 2, (struct held_place){NO, NO, 200});
	expect_in(450, (struct time_window){440, 460}, (struct held_place){NO, NO, 400});
	expect_in(450, (struct time_window){440, 510}, (struct held_place){NO, NO, 400});
	expect(450, more, 2, (struct held_place){NO, NO, 400});
}

static void test_at_the_ends(void **state)
{
	expect_in(50, (struct time_window){40, 60}, (struct held_place){NO, NO, 0});
	expect_in(700, (struct time_window){690, 710}, (struct held_place){NO, NO, 600});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amid_a_call),
		cmocka_unit_test(test_between_calls),
		cmocka_unit_test(test_at_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
