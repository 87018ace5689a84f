// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that are dropped, and functions that stay, when tracing costs too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "budget/budget.h"

#define OWN_NS 1e9
#define LIMIT  0.05 /* 50 ms */

/* At this number of calls 1 % of them is in doubt. */
#define MANY 90000

/* `cost` and `call` in ns. */
static struct budget_function function(uint64_t calls, double cost, double call)
{
	return (struct budget_function){.calls = calls, .call_cost_ns = cost, .call_ns = call};
}

static double cost_of_kept(const struct budget_function *f, size_t cnt)
{
	double sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += f[i].drop ? 0 : (double)f[i].calls * f[i].call_cost_ns;
	return sum;
}

#define CHOOSE(f) budget__choose(f, sizeof(f) / sizeof(*(f)), OWN_NS, LIMIT)

static void nothing_to_do(void **state)
{
	struct budget_function f[] = {function(10000, 1000, 50), function(34000, 1000, 50),
				      function(0, 1000, 0)};

	assert_int_equal(CHOOSE(f), 0);
	assert_false(f[0].drop || f[1].drop || f[2].drop);
	assert_int_equal(budget__choose(NULL, 0, OWN_NS, LIMIT), 0);
}

static void all_counts_zero(void **state)
{
	struct budget_function f[] = {function(0, 1000, 50), function(0, 1000, 0)};

	assert_int_equal(CHOOSE(f), 0);
	assert_int_equal(budget__choose(f, 2, 0, LIMIT), 0);
	assert_int_equal(budget__choose(f, 2, 0, 0), 0);
}

/* Of the same cost, the shorter calls tell less. */
static void the_short_one_goes_first(void **state)
{
	struct budget_function f[] = {function(MANY / 2, 1000, 20000), function(MANY / 2, 1000, 20),
				      function(100, 1000, 1)};

	f[0].calls = f[1].calls = 38000;
	assert_int_equal(CHOOSE(f), 1);
	assert_false(f[0].drop);
	assert_true(f[1].drop);
	assert_false(f[2].drop);
}

/* Of calls alike, the more frequent cost more. */
static void the_dear_one_goes_first(void **state)
{
	struct budget_function f[] = {function(20000, 1000, 50), function(MANY, 1000, 50),
				      function(10000, 1000, 50)};

	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[1].drop);
}

/* A call takes some time: that of which nothing is known goes before others, and divides nothing.
 */
static void unknown_times(void **state)
{
	struct budget_function f[] = {function(30000, 1000, 2), function(30000, 1000, 0)};

	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[1].drop);
}

/* Nine calls may have been chance, however dear each. */
static void few_calls_never_decide(void **state)
{
	struct budget_function f[] = {function(9, 1e9, 1), function(1, 1e12, 1)};

	assert_int_equal(CHOOSE(f), 0);
	/* Beside one that does count they stay as well. */
	struct budget_function g[] = {function(9, 1e9, 1), function(MANY, 1000, 1)};

	assert_int_equal(CHOOSE(g), 1);
	assert_false(g[0].drop);
	assert_true(g[1].drop);
	/* Sixteen are at least four. */
	struct budget_function h[] = {function(16, 1e9, 1)};

	assert_int_equal(CHOOSE(h), 1);
}

/* No function can be judged by itself; together they are over the limit. */
static void many_of_few_calls_count(void **state)
{
	struct budget_function f[1001];

	for (int i = 0; i < 1000; i++)
		f[i] = function(9, 10000, 1000);
	f[1000] = function(25000, 1000, 100);
	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[1000].drop);
	/* However many there are, the others have a part of the limit. */
	f[1000] = function(14000, 1000, 100);
	assert_int_equal(CHOOSE(f), 0);
	struct budget_function g[] = {f[0], function(15000, 1000, 100), function(MANY, 1000, 50)};

	g[0].call_cost_ns = 1e9;
	assert_int_equal(CHOOSE(g), 1);
	assert_true(g[2].drop);
}

/* A function that each child calls once has been seen often enough in three of them. */
static void few_calls_of_children_do(void **state)
{
	struct budget_function f[20];

	for (int i = 0; i < 20; i++)
		f[i] = function(i ? 2 : 3, 1e7, 1);
	assert_int_equal(CHOOSE(f), 0);
	for (int i = 0; i < 20; i++)
		f[i].again = true;
	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[0].drop);
}

/* Probes that are on their way out cost for a while yet: no reason to drop all others. */
static void the_gone_are_no_burden(void **state)
{
	struct budget_function f[] = {function(MANY, 1000, 1), function(10000, 1000, 500)};

	f[0].gone = true;
	assert_int_equal(CHOOSE(f), 0);
	assert_false(f[0].drop || f[1].drop);
	f[1].calls = MANY;
	assert_int_equal(CHOOSE(f), 1);
	assert_false(f[0].drop);
	assert_true(f[1].drop);
}

/* The score's order takes a cheap one, a dear one has to go as well, and then the first fits. */
static void what_fits_after_all_is_kept(void **state)
{
	struct budget_function f[] = {function(10000, 1000, 1), function(MANY, 1000, 1000),
				      function(10000, 1000, 1e6)};

	assert_int_equal(CHOOSE(f), 1);
	assert_false(f[0].drop);
	assert_true(f[1].drop);
	assert_false(f[2].drop);
}

/* A function that would fit alone does not fit if another one has been taken back before. */
static void what_was_taken_back_counts(void **state)
{
	struct budget_function f[] = {function(26000, 1000, 1), function(25000, 1000, 1.5),
				      function(MANY, 1000, 1000)};

	assert_int_equal(CHOOSE(f), 2);
	assert_true(f[0].drop); /* 26 + 25 ms are over 40 */
	assert_false(f[1].drop);
	assert_true(f[2].drop);
	assert_true(cost_of_kept(f, 3) <= 0.8 * LIMIT * OWN_NS);
}

static void the_goal_is_below_the_limit(void **state)
{
	struct budget_function f[100];
	size_t dropped;

	/* Not full, though above the goal. */
	for (int i = 0; i < 100; i++)
		f[i] = function(10000, 44, 10 + i);
	assert_int_equal(CHOOSE(f), 0);
	for (int i = 0; i < 100; i++)
		f[i].call_cost_ns = 55;
	dropped = CHOOSE(f);
	assert_true(cost_of_kept(f, 100) <= 0.8 * LIMIT * OWN_NS + 1);
	assert_true(cost_of_kept(f, 100) >= 0.8 * LIMIT * OWN_NS - 55 * 10000);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(f[i].drop, i < dropped); /* the shortest */
}

static void no_time_of_its_own(void **state)
{
	struct budget_function f[] = {function(MANY, 1000, 50), function(100, 1000, 50)};

	assert_int_equal(budget__choose(f, 2, 0, LIMIT), 2);
	assert_true(f[0].drop && f[1].drop);
}

/* A century of calls, each a millisecond. */
static void huge_numbers(void **state)
{
	struct budget_function f[] = {function(1ull << 42, 1e6, 1e-30),
				      function(1ull << 42, 1e6, 1), function(1ull << 42, 1e6, 1e18),
				      function(100, 1, 1)};

	assert_int_equal(CHOOSE(f), 3);
	assert_true(f[0].drop && f[1].drop && f[2].drop);
	assert_false(f[3].drop);
	/* Counts that went astray end as well. */
	f[0] = f[1] = function(UINT64_MAX, 1e6, UINT64_MAX);
	assert_in_range(CHOOSE(f), 2, 4);
	assert_true(f[0].drop && f[1].drop);
}

static void costs_that_are_unknown(void **state)
{
	struct budget_function f[] = {function(UINT64_MAX, 0, 50), function(MANY, 0, 0)};

	assert_int_equal(CHOOSE(f), 0);
}

/* A function that is kept in part: some calls cost all, the others little. */
static void passed_calls(void **state)
{
	struct budget_function f = function(100, 1000, 50);

	budget__add_passed(&f, 0, 400);
	assert_int_equal(f.calls, 100);
	assert_float_equal(f.call_cost_ns, 1000, 1e-6);
	budget__add_passed(&f, 900, 400);
	assert_int_equal(f.calls, 1000);
	assert_float_equal((double)f.calls * f.call_cost_ns, 100 * 1000 + 900 * 400, 1e-3);
	f = function(0, 1000, 50);
	budget__add_passed(&f, 0, 400);
	assert_int_equal(f.calls, 0);
	budget__add_passed(&f, 10, 400);
	assert_float_equal(f.call_cost_ns, 400, 1e-6);
}

/* A function whose exits are hit 100,000 times in no call of it costs most: by its one call alone
 * it would stay. */
static void exits_outside_of_calls(void **state)
{
	struct budget_function f[] = {function(1, 1000, 50), function(400, 1000, 50)};

	assert_int_equal(CHOOSE(f), 0);
	f[0].strays = 100000;
	f[0].stray_cost_ns = 600;
	assert_float_equal(budget__cost_ns(&f[0]), 1000 + 100000 * 600, 1e-3);
	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[0].drop && !f[1].drop);
}

/* A chosen function goes after all others, though it costs most. */
static void the_chosen_go_last(void **state)
{
	struct budget_function f[] = {function(40000, 1000, 20), function(20000, 1000, 2000),
				      function(200000, 1000, 20)};

	f[0].last = true;
	f[2].gone = true;
	assert_int_equal(CHOOSE(f), 1);
	assert_true(!f[0].drop && f[1].drop);
	/* No other function could pay so much. */
	f[1].drop = false;
	f[0].calls = 60000;
	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[0].drop && !f[1].drop);
}

/* Functions that options name cost more than the limit by themselves: the others have half of it,
 * and of the others the cheap ones go last, though their calls are as short. */
static void the_kept_leave_the_others_a_part(void **state)
{
	struct budget_function f[] = {function(70000, 1000, 20000), function(48, 1000, 1),
				      function(48, 1000, 2), function(24000, 1000, 20)};

	f[0].kept = true;
	assert_int_equal(CHOOSE(f), 0);
	assert_float_equal(budget__counted_ns(f, 4, OWN_NS, LIMIT),
			   0.3 * LIMIT * OWN_NS + 24096 * 1000, 1);
	f[3].calls = 40000;
	assert_int_equal(CHOOSE(f), 1);
	assert_true(f[3].drop && !f[0].drop && !f[1].drop && !f[2].drop);
	/* A function that somebody has chosen is paid for by the others. */
	f[3] = function(1000, 1000, 20);
	f[0].chosen = true;
	f[0].calls = 46000;
	assert_int_equal(CHOOSE(f), 3);
	assert_true(f[1].drop && f[2].drop && f[3].drop);
}

/* Many cheap ones together are not cheap: the dear one goes, then as many as it takes. */
static void the_cheap_go_last(void **state)
{
	struct budget_function f[101];

	for (int i = 0; i < 100; i++)
		f[i] = function(900, 1000, 1 + i);
	f[100] = function(2000, 1000, 1e6);
	assert_int_equal(CHOOSE(f), 57);
	assert_true(f[100].drop && f[55].drop);
	assert_false(f[56].drop);
}

static void the_cheap_come_back(void **state)
{
	struct budget_return r[] = {{7, 0.02}, {3, 0.001}, {5, 0.01}, {4, 0.001}};

	assert_int_equal(budget__returning(r, 4, 0.0125), 3);
	assert_int_equal(r[0].function, 3);
	assert_int_equal(r[1].function, 4);
	assert_int_equal(r[2].function, 5);
	assert_int_equal(budget__returning(r, 4, 0.0005), 0);
	assert_int_equal(budget__returning(r, 4, -1), 0);
	assert_int_equal(budget__returning(NULL, 0, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_do),
		cmocka_unit_test(all_counts_zero),
		cmocka_unit_test(the_short_one_goes_first),
		cmocka_unit_test(the_dear_one_goes_first),
		cmocka_unit_test(unknown_times),
		cmocka_unit_test(few_calls_never_decide),
		cmocka_unit_test(many_of_few_calls_count),
		cmocka_unit_test(few_calls_of_children_do),
		cmocka_unit_test(the_gone_are_no_burden),
		cmocka_unit_test(what_fits_after_all_is_kept),
		cmocka_unit_test(what_was_taken_back_counts),
		cmocka_unit_test(the_goal_is_below_the_limit),
		cmocka_unit_test(no_time_of_its_own),
		cmocka_unit_test(huge_numbers),
		cmocka_unit_test(costs_that_are_unknown),
		cmocka_unit_test(passed_calls),
		cmocka_unit_test(exits_outside_of_calls),
		cmocka_unit_test(the_chosen_go_last),
		cmocka_unit_test(the_kept_leave_the_others_a_part),
		cmocka_unit_test(the_cheap_go_last),
		cmocka_unit_test(the_cheap_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
