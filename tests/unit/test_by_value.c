// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths by values, of calls that were made up. */
#include "range_fixture.h"

#include <errno.h>

#include "calls/values.h"
#include "views/by_value.h"

static const struct sink_options by_calls = {.weight = WEIGHT_CALLS};

enum { MAIN, F, LEAF };

/* main -> f -> f and leaf; nodes 1 to 4. Values: of f arg1 and arg2:x, of leaf arg1. */
static struct profile *fixture(void)
{
	struct profile *p = fixture_new();
	uint32_t t = fixture_thread(p, 1, 1, "t"), n;

	assert_int_equal(fixture_function(p, "main"), MAIN);
	assert_int_equal(fixture_function(p, "f"), F);
	assert_int_equal(fixture_function(p, "leaf"), LEAF);
	n = fixture_node(p, t, 0, MAIN, 1, 1000, 400);
	n = fixture_node(p, t, n, F, 4, 600, 300);
	fixture_node(p, t, n, F, 1, 100, 100);
	fixture_node(p, t, n, LEAF, 4, 200, 200);
	p->arguments = calloc(3, sizeof(*p->arguments));
	p->arguments[p->arguments_cnt++] = (struct profile_argument){F, "arg1"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){F, "arg2:x"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){LEAF, "arg1"};
	fixture_finish(p);
	p->duration_ns = 2000;
	return p;
}

static struct timeline_call of(uint32_t node, uint64_t enter_ns, uint64_t leave_ns,
			       const struct call_value *values, uint32_t cnt)
{
	return (struct timeline_call){node, enter_ns, leave_ns, 0, cnt, values};
}

static const struct call_value ones[] = {{VALUE_INT, {.i = 1}}, {VALUE_UINT, {.u = 255}}};
static const struct call_value twos[] = {{VALUE_INT, {.i = 2}}, {VALUE_NONE}};

static void add_calls(void)
{
	add_call(0, of(1, 0, 1000, NULL, 0));
	add_call(0, of(2, 10, 100, ones, 2));
	add_call(0, of(4, 20, 30, ones, 1));
	add_call(0, of(4, 30, 30, twos, 1)); /* takes no time */
	add_call(0, of(2, 100, 200, twos, 2));
	add_call(0, of(3, 110, 150, ones, 2));
	add_call(0, of(4, 160, 170, ones, 1));
	add_call(0, of(2, 200, 200, ones, 2)); /* nor do these */
	add_call(0, of(4, 200, 200, ones, 1));
	add_call(0, of(4, 500, 510, NULL, 0)); /* its caller is missing */
}

static void expect(struct profile *p, const char *value, const char *folded,
		   const char *timeline_of)
{
	struct value_names names = {0};

	set_timeline(p);
	assert_int_equal(profile__split(p, value, &names), 0);
	assert_string_equal(timeline_text(p->timeline, 0), timeline_of);
	cut(p, 0, UINT64_MAX);
	expect_sums(p);
	fixture_expect(&sink_folded, p, &by_calls, folded);
	profile__free(p);
	value_names__free(&names);
}

static void each_value_has_its_path(void **state)
{
	add_calls();
	expect(fixture(), "arg1",
	       "t;main 1\n"
	       "t;main;f(arg1=2) 1\n"
	       "t;main;f(arg1=2);f(arg1=1) 1\n"
	       "t;main;f(arg1=2);leaf(arg1=1) 1\n"
	       "t;main;f(arg1=1) 2\n"
	       "t;main;f(arg1=1);leaf(arg1=1) 2\n"
	       "t;main;f(arg1=1);leaf(arg1=2) 1\n"
	       "t;main;f(arg1=other);leaf(arg1=?) 1\n",
	       "1:0-1000/0 5:10-100/0 6:20-30/0 7:30-30/0 8:100-200/0 9:110-150/0 10:160-170/0 "
	       "5:200-200/0 6:200-200/0 11:500-510/0 ");
}

/* Calls without a value of the name stay together, below calls that have one. */
static void one_function_of_many(void **state)
{
	add_calls();
	expect(fixture(), "arg2",
	       "t;main 1\n"
	       "t;main;f(arg2=?) 1\n"
	       "t;main;f(arg2=?);f(arg2=0xff) 1\n"
	       "t;main;f(arg2=?);leaf 1\n"
	       "t;main;f(arg2=0xff) 2\n"
	       "t;main;f(arg2=0xff);leaf 3\n"
	       "t;main;f(arg2=other);leaf 1\n",
	       "1:0-1000/0 5:10-100/0 6:20-30/0 6:30-30/0 7:100-200/0 8:110-150/0 9:160-170/0 "
	       "5:200-200/0 6:200-200/0 4:500-510/0 ");
}

static void sampled_functions_stay(void **state)
{
	struct profile *p = fixture();

	p->functions[F].sampled = 10;
	add_calls();
	expect(p, "arg2:x", "t;main 1\nt;main;f 3\nt;main;f;f 1\nt;main;f;leaf 5\n",
	       "1:0-1000/0 2:10-100/0 4:20-30/0 4:30-30/0 2:100-200/0 3:110-150/0 4:160-170/0 "
	       "2:200-200/0 4:200-200/0 4:500-510/0 ");
}

static void no_such_value(void **state)
{
	struct value_names names = {0};
	struct profile *p = fixture();

	add_calls();
	set_timeline(p);
	assert_int_equal(profile__split(p, "arg3", &names), -ENOENT);
	assert_ptr_equal(p->timeline, &timeline.base);
	assert_int_equal(names.cnt, 0);
	profile__free(p);
}

/* Values beyond the limit are one, also when they come again. */
static void many_values(void **state)
{
	static struct call_value values[CALLS_MAX];
	struct value_names names = {0};
	struct profile *p = fixture();

	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		values[i] = (struct call_value){VALUE_INT, {.i = i / 2}};
		add_call(0, of(2, i, i + 1, &values[i], 1));
	}
	set_timeline(p);
	assert_int_equal(profile__split(p, "arg1", &names), 0);
	assert_int_equal(p->functions_cnt, 3 + VALUES_OF_FUNCTION);
	cut(p, 0, UINT64_MAX);
	assert_int_equal(p->functions[F].stats.calls, CALLS_MAX - 2 * VALUES_OF_FUNCTION);
	assert_string_equal(p->functions[F].name, "f(arg1=other)");
	for (uint32_t i = 3; i < p->functions_cnt; i++)
		assert_int_equal(p->functions[i].stats.calls, 2);
	profile__free(p);
	value_names__free(&names);
}

static void a_call_of_no_path(void **state)
{
	struct value_names names = {0};
	struct profile *p = fixture();

	add_call(0, of(99, 0, 1, NULL, 0));
	set_timeline(p);
	assert_int_equal(profile__split(p, "arg1", &names), -EINVAL);
	profile__free(p);
	value_names__free(&names);
}

#define TEST(f) cmocka_unit_test_teardown(f, range_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_value_has_its_path),
		TEST(one_function_of_many),
		TEST(sampled_functions_stay),
		TEST(no_such_value),
		TEST(many_values),
		TEST(a_call_of_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
