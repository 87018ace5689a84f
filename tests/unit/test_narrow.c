// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"
#include "calls/narrow.h"

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

static void expect(struct profile *p, const struct narrowing *what, const char *by_calls,
		   const char *by_time, size_t buckets)
{
	assert_int_equal(profile__narrow(p, what), 0);
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
	expect(p, &(struct narrowing){.functions = without_a},
	       "one;main 1\none;main;leaf 6\ntwo;leaf 8\n",
	       "one;main 650\none;main;leaf 350\ntwo;leaf 7\n", 1);
	expect(fixture(), &(struct narrowing){.functions = without_main},
	       "one;a 3\none;a;leaf 4\none;leaf 2\ntwo;leaf 8\n",
	       "one;a 150\none;a;leaf 250\none;leaf 100\ntwo;leaf 7\n", 2);
}

static void test_depth(void **state)
{
	static const bool without_a[] = {true, false, true};

	/* leaf has lost some of its calls: how long the others took is not known. */
	expect(fixture(), &(struct narrowing){.depth = 2},
	       "one;main 1\none;main;a 3\none;main;leaf 2\ntwo;leaf 8\n",
	       "one;main 500\none;main;a 400\none;main;leaf 100\ntwo;leaf 7\n", 1);
	/* Levels are those of what stays. */
	expect(fixture(), &(struct narrowing){.functions = without_a, .depth = 2},
	       "one;main 1\none;main;leaf 6\ntwo;leaf 8\n",
	       "one;main 650\none;main;leaf 350\ntwo;leaf 7\n", 1);
}

static void test_thread(void **state)
{
	static const bool second[] = {false, true};

	expect(fixture(), &(struct narrowing){.threads = second}, "two;leaf 8\n", "two;leaf 7\n",
	       0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
