// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of probes, by how many samples have met one at work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "budget/dearness.h"
#include "collect/figures.h"

static double times(uint64_t taken, uint64_t probing, double reckoned)
{
	const struct samples_so_far met = {.taken = taken, .probing = probing};

	return dearness__times(&met, reckoned);
}

static void as_reckoned(void **state)
{
	assert_true(times(0, 0, 0) == 1);
	assert_true(times(1000, 20, 0.02) == 1);
	assert_true(times(1000, 10, 0.02) == 1); /* never cheaper */
}

static void dearer(void **state)
{
	double few = times(100, 6, 0.02), more = times(1000, 60, 0.02),
	       many = times(100000, 6000, 0.02);

	assert_true(few > 1.2 && few < 1.5); /* two were expected, six came */
	assert_true(more > 2 && more < few * 2 && more < many);
	assert_true(many > 2.9 && many < 3);
}

static void by_no_more_than_fourfold(void **state)
{
	assert_true(times(1000, 1000, 0) == 4);
	assert_true(times(1000, 1000, 0.01) == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_reckoned),
		cmocka_unit_test(dearer),
		cmocka_unit_test(by_no_more_than_fourfold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
