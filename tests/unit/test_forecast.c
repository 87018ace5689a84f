// SPDX-License-Identifier: GPL-2.0-or-later
/* The expected cost of tracing, and the functions whose calls are counted once more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "budget/forecast.h"

#define MICROSECOND 1e-6 /* calls in a ns, of a function that is called once in so long */

static void own_time_is_what_counting_leaves(void **state)
{
	assert_true(forecast__own_ns(1000, 0) == 1000);
	assert_true(forecast__own_ns(1000, 400) == 600);
	/* Clocks go in steps, and costs are not that certain: some of it is always left. */
	assert_true(forecast__own_ns(1000, 990) == 100);
	/* The target has had at least what counting has cost. */
	assert_true(forecast__own_ns(1000, 5000) == 500);
	assert_true(forecast__own_ns(0, 5000) == 500);
	assert_true(forecast__own_ns(0, 0) == 0);
}

static void the_share_is_a_sum(void **state)
{
	const struct forecast_function f[] = {
		{.rate = 10 * MICROSECOND, .count_ns = 500, .trace_ns = 1000},
		{.rate = 0, .count_ns = 500, .trace_ns = 1000},
		{.rate = 5 * MICROSECOND, .count_ns = 500, .trace_ns = 10000},
	};
	double share = forecast__share(f, 3);

	assert_true(share > 0.0599 && share < 0.0601);
	assert_true(forecast__share(f, 0) == 0);
}

/* Of ten functions that are called once in a look or not at all, half are seen. */
static void what_was_called_once_tells_of_what_was_not(void **state)
{
	const struct forecast_function f[] = {
		{.rate = 100 * MICROSECOND, .trace_ns = 1000},
		{.rate = 1 * MICROSECOND, .trace_ns = 1000},
		{.rate = 0, .trace_ns = 1000},
		{.rate = 1 * MICROSECOND, .trace_ns = 3000},
	};
	const uint64_t calls[] = {100, 1, 0, 1}, none[4] = {0};
	double share = forecast__unseen(f, calls, 4);

	assert_true(share > 0.00399 && share < 0.00401);
	assert_true(forecast__unseen(f, none, 4) == 0);
	assert_true(forecast__unseen(f, calls, 0) == 0);
}

/* 1 % of a CPU for a moment is less than 4,000 probes; 50 % are not, nor is 1 % for ten of them. */
static void what_was_not_called_is_left_to_the_run_where_that_is_cheaper(void **state)
{
	assert_true(forecast__leaves(0.01, 1, 4000));
	assert_true(forecast__leaves(0.08, 1.3, 24000));
	assert_false(forecast__leaves(0.5, 1, 4000));
	assert_false(forecast__leaves(0.01, 16, 4000));
	assert_false(forecast__leaves(0.01, 1, 10));
}

/* The dearest are known well enough, and would hide the others. */
static void the_dearest_are_left_out(void **state)
{
	const struct forecast_function f[] = {
		{.rate = 2000 * MICROSECOND, .count_ns = 500}, /* the target would stand still */
		{.rate = 100 * MICROSECOND, .count_ns = 500},  {.rate = 0, .count_ns = 500},
		{.rate = 20 * MICROSECOND, .count_ns = 10000}, /* single-stepped */
		{.rate = 10 * MICROSECOND, .count_ns = 500},   {.count_ns = 500}, /* hardly ever */
	};
	uint32_t again[6];

	assert_int_equal(forecast__again(f, 6, 0.5, again), 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(again[i], i + 1);
	assert_int_equal(forecast__again(f, 6, 0.1, again), 4);
	assert_int_equal(again[0], 1);
	assert_int_equal(again[1], 2);
	assert_int_equal(again[2], 4);
	assert_int_equal(again[3], 5);
	assert_int_equal(forecast__again(f, 6, 2, again), 6);
	assert_int_equal(forecast__again(f, 6, 0, again), 2);
	assert_int_equal(forecast__again(f, 0, 1, again), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_time_is_what_counting_leaves),
		cmocka_unit_test(the_share_is_a_sum),
		cmocka_unit_test(what_was_called_once_tells_of_what_was_not),
		cmocka_unit_test(what_was_not_called_is_left_to_the_run_where_that_is_cheaper),
		cmocka_unit_test(the_dearest_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
