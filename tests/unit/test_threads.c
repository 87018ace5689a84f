// SPDX-License-Identifier: GPL-2.0-or-later
/* Work that is shared out to threads: all of it is done, once, however many threads there are. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/threads.h"

static void count_up(void *element)
{
	++*(int *)element;
}

static void each_element_once(void **state)
{
	int counts[THREADS_MAX + 3] = {0};

	for (size_t cnt = 0; cnt < sizeof(counts) / sizeof(*counts); cnt++) {
		threads__run(counts, cnt, sizeof(*counts), count_up);
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			assert_int_equal(counts[i], i < cnt);
		memset(counts, 0, sizeof(counts));
	}
}

static void as_many_as_are_worth_it(void **state)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(threads__for(0, 100), 1);
	assert_int_equal(threads__for(99, 100), 1);
	assert_int_equal(threads__for(100, 100), CPU_COUNT(&set) > 1 ? 2 : 1);
	assert_in_range(threads__for(1000000, 100), 1, THREADS_MAX);
	assert_in_range(threads__for(1000000, 100), 1, CPU_COUNT(&set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_element_once),
		cmocka_unit_test(as_many_as_are_worth_it),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
