// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/tree.h"
#include "fixture.h"
#include "timeline_fixture.h"
#include "views/filter.h"

static const struct sink_options calls = {.weight = WEIGHT_CALLS};
static const struct sink_options wall;

/* main -> a -> leaf, main -> leaf, and leaf alone on another thread. */
static struct profile *fixture(void)
{
	struct profile *p = fixture_new();
	uint32_t m = fixture_function(p, "main"), a = fixture_function(p, "a");
	uint32_t leaf = fixture_function(p, "leaf"), n, t;

	t = fixture_thread(p, 1, 1, "one");
	n = fixture_node(p, t, 0, m, 1, 1000, 500);
	fixture_node(p, t, n, leaf, 2, 100, 100);
	n = fixture_node(p, t, n, a, 3, 400, 150);
	fixture_node(p, t, n, leaf, 4, 250, 250);
	t = fixture_thread(p, 1, 2, "two");
	fixture_node(p, t, 0, leaf, 8, 7, 7);
	fixture_bucket(p, a, 1, 3);
	fixture_bucket(p, leaf, 1, 14);
	fixture_finish(p);
	return p;
}

static void expect(struct profile *p, const struct profile_filter *what, const char *by_calls,
		   const char *by_time, size_t buckets)
{
	assert_int_equal(profile__filter(p, what), 0);
	assert_int_equal(profile__summarize(p), 0);
	fixture_expect(&sink_folded, p, &calls, by_calls);
	fixture_expect(&sink_folded, p, &wall, by_time);
	assert_int_equal(p->buckets_cnt, buckets);
	profile__free(p);
}

static void test_function(void **state)
{
	static const bool without_a[] = {true, false, true}, without_main[] = {false, true, true};
	struct profile *p = fixture();

	/* Equal paths are one, and a's own time is main's. */
	expect(p, &(struct profile_filter){.functions = without_a},
	       "one;main 1\none;main;leaf 6\ntwo;leaf 8\n",
	       "one;main 650\none;main;leaf 350\ntwo;leaf 7\n", 1);
	expect(fixture(), &(struct profile_filter){.functions = without_main},
	       "one;a 3\none;a;leaf 4\none;leaf 2\ntwo;leaf 8\n",
	       "one;a 150\none;a;leaf 250\none;leaf 100\ntwo;leaf 7\n", 2);
}

static void test_depth(void **state)
{
	static const bool without_a[] = {true, false, true};

	/* leaf has lost some of its calls: how long the others took is not known. */
	expect(fixture(), &(struct profile_filter){.depth = 2},
	       "one;main 1\none;main;a 3\none;main;leaf 2\ntwo;leaf 8\n",
	       "one;main 500\none;main;a 400\none;main;leaf 100\ntwo;leaf 7\n", 1);
	/* Levels are those of what stays. */
	expect(fixture(), &(struct profile_filter){.functions = without_a, .depth = 2},
	       "one;main 1\none;main;leaf 6\ntwo;leaf 8\n",
	       "one;main 650\none;main;leaf 350\ntwo;leaf 7\n", 1);
}

static void test_thread(void **state)
{
	static const bool second[] = {false, true};

	expect(fixture(), &(struct profile_filter){.threads = second}, "two;leaf 8\n",
	       "two;leaf 7\n", 0);
}

static void expect_calls(const struct profile_filter *what, const char *one, const char *two)
{
	/* Calls of the nodes of fixture(): main, leaf below it, a, leaf below that, and leaf alone.
	 */
	static const struct timeline_call calls[] = {
		{1, 0, 900, 4}, {2, 5, 15, 0}, {3, 20, 90, 1}, {4, 30, 40, 0}, {5, 8, 9, 0},
	};
	static const uint32_t threads[] = {0, 0, 0, 0, 1};
	struct timeline_array timeline;
	struct profile *p = fixture();

	timeline_array__init(&timeline, calls, threads, 5);
	p->timeline = &timeline.base;
	assert_int_equal(profile__filter(p, what), 0);
	assert_string_equal(timeline_text(p->timeline, 0), one);
	assert_string_equal(timeline_text(p->timeline, 1), two);
	profile__free(p);
}

static void test_single_calls(void **state)
{
	static const bool without_a[] = {true, false, true}, without_main[] = {false, true, true};
	static const bool second[] = {false, true}, leaf_alone[] = {false, false, true};

	/* Calls of paths that have become one are calls of that. New numbers are in the order in
	 * which the tree is walked, the dearest first: main, then a's leaf. */
	expect_calls(&(struct profile_filter){.functions = without_a},
		     "1:0-900/4 2:5-15/0 2:30-40/0 ", "3:8-9/0 ");
	expect_calls(&(struct profile_filter){.functions = without_main},
		     "3:5-15/0 1:20-90/1 2:30-40/0 ", "4:8-9/0 ");
	expect_calls(&(struct profile_filter){.functions = leaf_alone}, "1:5-15/0 1:30-40/0 ",
		     "2:8-9/0 ");
	expect_calls(&(struct profile_filter){.depth = 2}, "1:0-900/4 3:5-15/0 2:20-90/1 ",
		     "4:8-9/0 ");
	expect_calls(&(struct profile_filter){.threads = second}, "", "1:8-9/0 ");
}

/* Lines are not known by thread or path. */
static void test_lines(void **state)
{
	static const bool without_a[] = {true, false, true}, second[] = {false, true};
	struct profile *p = fixture();

	fixture_line(p, (struct profile_line){"a.c", 1, 0, 0, 1, 1, 0, NULL});
	fixture_line(p, (struct profile_line){"a.c", 2, 1, 0, 1, 1, 0, NULL});
	fixture_line(p, (struct profile_line){"a.c", 3, 2, 0, 1, 1, 0, NULL});
	assert_int_equal(profile__filter(p, &(struct profile_filter){.functions = without_a}), 0);
	assert_int_equal(p->lines_cnt, 2);
	assert_int_equal(p->lines[1].line, 3);
	assert_int_equal(profile__filter(p, &(struct profile_filter){.threads = second}), 0);
	assert_int_equal(p->lines_cnt, 0);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_thread),	 cmocka_unit_test(test_single_calls),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
