// SPDX-License-Identifier: GPL-2.0-or-later
/* How often a dropped function has been called of late, where the truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "looks/late.h"

#define MS	1000000ull
#define LOOKS	1000
#define FEW_NS	1e-6 /* calls in a ns: 1000 in a second */
#define HOT_NS	1e-3
#define HOT_FOR 3 /* looks */

/* Looks one after the other, each a second after the last one and with `own_ns` of the target's own
 * time: first some with many calls, then some without. Returns how many of the latter it took until
 * the function was known to be called less than FEW_NS; LOOKS: it never was. */
static int looks_until_cold(double own_ns)
{
	struct late l = {0};

	for (int i = 0; i < HOT_FOR + LOOKS; i++) {
		uint64_t calls = i < HOT_FOR ? (uint64_t)(HOT_NS * own_ns) : 0;
		double rate;

		late__note(&l, (uint64_t)(i + 1) * 1000 * MS, calls, own_ns);
		rate = late__rate(&l);
		assert_true(rate < 0 || i >= HOT_FOR || rate > HOT_NS / 2);
		if (i >= HOT_FOR && rate >= 0 && rate < FEW_NS)
			return i + 1 - HOT_FOR;
	}
	return LOOKS;
}

/* Windows are over after some 30 ms, however little of that the target has run. */
static void targets_that_seldom_run(void **state)
{
	assert_int_equal(looks_until_cold(6 * MS), LATE_TIMES);
	assert_in_range(looks_until_cold(2 * MS), LATE_TIMES, 3 * LATE_TIMES);
	assert_in_range(looks_until_cold(0.5 * MS), LATE_TIMES, 12 * LATE_TIMES);
}

/* A look in which the target has not run says nothing. */
static void targets_that_do_not_run(void **state)
{
	struct late l = {0};

	for (int i = 1; i <= LOOKS; i++)
		late__note(&l, (uint64_t)i * 1000 * MS, 0, 0);
	assert_true(late__rate(&l) < 0);
}

/* Three looks within a second are of one moment. */
static void looks_at_one_moment(void **state)
{
	struct late l = {0};

	for (int i = 1; i <= LATE_TIMES; i++)
		late__note(&l, (uint64_t)i * 100 * MS, 0, 6 * MS);
	assert_true(late__rate(&l) < 0);
	assert_true(late__last(&l) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_that_seldom_run),
		cmocka_unit_test(targets_that_do_not_run),
		cmocka_unit_test(looks_at_one_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
