// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of a function by its CPU time, where the truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/calls_by_time.h"

/* 1000 calls of `call_ns` were recorded with probes that took `probe_ns`, which is known by a
 * tenth; 100 samples of 1 ms have met it since. */
static struct calls_by_time told(double call_ns, double probe_ns)
{
	const struct time_of_calls t = {
		.calls = 1000,
		.cpu_ns = (uint64_t)(1000 * (call_ns + probe_ns)),
		.probe_ns = (uint64_t)(1000 * probe_ns),
		.spread = 0.1,
		.samples = 100,
		.period_ns = 1000000,
	};
	struct calls_by_time by;

	assert_true(calls_by_time__of(&t, &by));
	return by;
}

static void long_calls(void **state)
{
	struct calls_by_time by = told(10000, 500);

	assert_true(fabs(by.calls - 10000) < 1);
	assert_true(sqrt(by.variance) < 0.8 * by.calls);
	assert_true(by.least > 3000 && by.least < by.calls);
}

/* Whatever the probes take, the truth is within two errors, and above what is told to be least. */
static void short_calls(void **state)
{
	const double probes[] = {0, 100, 500, 1000, 11000};

	for (double call_ns = 2; call_ns < 1000; call_ns *= 1.5) {
		for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
			struct calls_by_time by = told(call_ns, probes[i]);
			double truth = 1e8 / call_ns;

			assert_true(fabs(truth - by.calls) < 2 * sqrt(by.variance));
			assert_true(by.least < truth);
		}
	}
}

/* Probes that were cheaper than calibrated: nothing is left of the calls. */
static void less_than_the_probes(void **state)
{
	struct calls_by_time by = told(-40, 500);

	assert_true(by.calls > 0 && by.calls + 2 * sqrt(by.variance) > 1e8 / 5);
}

/* No sample has met it: it may have had as much time as one stands for. */
static void without_samples(void **state)
{
	const struct time_of_calls t = {.calls = 1000, .cpu_ns = 100000, .period_ns = 1000000};
	struct calls_by_time by;

	assert_true(calls_by_time__of(&t, &by));
	assert_true(by.calls == 0 && by.least < 0);
	assert_true(sqrt(by.variance) >= 1000000 / 100 && sqrt(by.variance) < 20000);
}

static void too_few(void **state)
{
	const struct time_of_calls none = {.samples = 100, .period_ns = 1000000};
	const struct time_of_calls no_samples = {.calls = 1000, .cpu_ns = 100000};
	struct calls_by_time by;

	assert_false(calls_by_time__of(&none, &by));
	assert_false(calls_by_time__of(&no_samples, &by));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_calls),
		cmocka_unit_test(short_calls),
		cmocka_unit_test(less_than_the_probes),
		cmocka_unit_test(without_samples),
		cmocka_unit_test(too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
