// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diff/change.h"

#define MS 1000000ull

static void expect(const struct measured *old, const struct measured *now, int64_t ns, bool noise)
{
	struct change c = change__of(old, now);

	assert_int_equal(c.ns, ns);
	assert_int_equal(c.noise, noise);
	/* The change is the same the other way round. */
	c = change__of(now, old);
	assert_int_equal(c.ns, -ns);
	assert_int_equal(c.noise, noise);
}

static struct measured plain(uint64_t ns, uint64_t calls)
{
	return (struct measured){.ns = ns, .calls = calls, .longest_ns = ns};
}

static void test_share(void **state)
{
	struct measured old = plain(1000 * MS, 1000), now = old;

	expect(&old, &now, 0, true);
	now.ns = 1052 * MS;
	expect(&old, &now, 52 * MS, true);
	now.ns = 1054 * MS;
	expect(&old, &now, 54 * MS, false);
}

static void test_least(void **state)
{
	struct measured none = {0}, now = plain(10000, 1000);

	/* Off the CPU, by waits that are all alike. */
	now.off_ns = now.ns;
	now.longest_ns = 10;
	expect(&none, &now, 10000, true);
	now.off_ns = ++now.ns;
	expect(&none, &now, 10001, false);
}

static void test_part_of_the_whole(void **state)
{
	struct measured old = plain(1 * MS, 1000), now = plain(2 * MS, 1000);

	expect(&old, &now, MS, false);
	old.whole_ns = 1000 * MS;
	expect(&old, &now, MS, true);
	now.ns++;
	expect(&old, &now, MS + 1, false);
	/* Few calls tell little. */
	now.calls = old.calls = CHANGE_FEW - 1;
	expect(&old, &now, MS + 1, true);
	now.ns = 6 * MS + 1;
	expect(&old, &now, 5 * MS + 1, false);
}

static void test_probes(void **state)
{
	struct measured old = plain(1 * MS, 1000), now = plain(2 * MS, 1000);

	/* 3 * sqrt(200^2 + 300^2 + 20 * 1000 + 20 * 2200) us = 1321 us */
	old.error_ns = 200000;
	now.error_ns = 300000;
	expect(&old, &now, MS, true);
	now.ns = 2200000;
	expect(&old, &now, 1200000, true);
	now.ns = 2340000;
	expect(&old, &now, 1340000, false);
}

/* Counts are exact: what is twice as often takes twice as long, whatever its calls' spread. */
static void test_more_calls(void **state)
{
	struct measured old = plain(10 * MS, 1000), now = plain(20 * MS, 2000);

	old.variation = now.variation = 30;
	expect(&old, &now, 10 * MS, false);
	/* Each call of less: there are more, but by chance alone they take longer in all. */
	old = plain(10 * MS, 3);
	now = plain(12 * MS, 6);
	old.variation = now.variation = 1;
	expect(&old, &now, 2 * MS, false);
	/* Hardly more, and one of them took all of the difference. */
	old = plain(10 * MS, 1000);
	now = plain(20 * MS, 1003);
	old.variation = 1;
	now.variation = 15;
	expect(&old, &now, 10 * MS, true);
	/* Calls that hardly differ from each other: each of them takes longer. */
	now.variation = 1;
	expect(&old, &now, 10 * MS, false);
}

/* If both runs have as many calls they are the same calls, however they differ from each other. */
static void test_few_unequal_calls(void **state)
{
	struct measured old = plain(111 * MS, 3), now = plain(221 * MS, 3);

	old.variation = now.variation = 1.2;
	expect(&old, &now, 110 * MS, false);
	now.ns = 116 * MS;
	expect(&old, &now, 5 * MS, true);
}

/* A processor that another machine had is taken for time on ours: 3 * sqrt(2 * 100 ms * 10 ms /
 * 100) = 13.4 ms, and one stall of 10 ms. */
static void test_stolen(void **state)
{
	struct measured old = plain(100 * MS, 1000), now = plain(123 * MS, 1000);

	expect(&old, &now, 23 * MS, false);
	old.raw_cpu_ns = now.raw_cpu_ns = 10000 * MS;
	old.stolen_ns = now.stolen_ns = 100 * MS;
	expect(&old, &now, 23 * MS, true);
	now.ns = 127 * MS;
	expect(&old, &now, 27 * MS, false);
}

/* If most functions wait a third longer in one run, so may this one. */
static void test_busy_machine(void **state)
{
	struct measured old = plain(1000 * MS, 1000000), now = plain(1900 * MS, 1000000);

	old.longest_ns = now.longest_ns = MS;
	old.off_ns = 900 * MS;
	now.off_ns = 1800 * MS;
	expect(&old, &now, 900 * MS, false);
	old.off_alike = now.off_alike = 1.0 / 3;
	expect(&old, &now, 900 * MS, true);
	/* On the CPU nothing waits. */
	old.off_ns = now.off_ns = 0;
	expect(&old, &now, 900 * MS, false);
}

/* 5 % of the time with the probes' cost (raw_ns) are noise: here 100 ms, and 10 ms. */
static void test_raw(void **state)
{
	struct measured old = plain(100 * MS, 1000), now = plain(150 * MS, 1000);

	old.raw_ns = 2000 * MS;
	now.raw_ns = 2050 * MS;
	expect(&old, &now, 50 * MS, true);
	old.raw_ns = 200 * MS;
	now.raw_ns = 250 * MS;
	expect(&old, &now, 50 * MS, false);
}

/* 3 * sqrt(1 ms * 20 us + 1.7 ms * 20 us) = 0.697 ms */
static void test_jitter(void **state)
{
	struct measured old = plain(MS, 1000), now = plain(1700000, 1000);

	expect(&old, &now, 700000, false);
	now.ns = 1680000;
	expect(&old, &now, 680000, true);
	/* A function that waits is no slower for an interrupt. */
	old.off_ns = now.off_ns = MS;
	old.longest_ns = now.longest_ns = 2000;
	expect(&old, &now, 680000, false);
}

static void test_stalls(void **state)
{
	struct measured old = plain(10 * MS, 1000), now = old;

	/* Preempted twice: 3 * sqrt(8 ms * 4 ms) = 17 ms. */
	now.ns = 18 * MS;
	now.off_ns = 8 * MS;
	now.longest_ns = 4 * MS;
	expect(&old, &now, 8 * MS, true);
	/* A run of 18 ms as before, but with no time off the CPU. */
	now.off_ns = 0;
	expect(&old, &now, 8 * MS, false);
	/* Stalls don't hide what has changed besides. */
	now.ns = 26 * MS;
	now.off_ns = 8 * MS;
	expect(&old, &now, 16 * MS, false);
	/* But a function that became faster does not become slower by a stall. */
	old.ns = 15 * MS;
	now.ns = 20 * MS;
	now.off_ns = 12 * MS;
	expect(&old, &now, 5 * MS, true);
	/* Each call waits. */
	now.ns = 18 * MS;
	now.off_ns = 10 * MS;
	now.longest_ns = 20000;
	expect(&old, &now, 3 * MS, false);
}

static void test_single_call_waits(void **state)
{
	struct measured old = plain(2 * MS, 1), now = plain(8 * MS, 1);

	now.off_ns = 6 * MS;
	expect(&old, &now, 6 * MS, true);
	/* 3 * sqrt(100 ms * 10 ms) = 95 ms */
	now.ns = 102 * MS;
	now.off_ns = 100 * MS;
	expect(&old, &now, 100 * MS, false);
}

static void test_per_call(void **state)
{
	struct measured old = plain(100 * MS, 1000), now = plain(50 * MS, 500);
	struct change c = change__per_call(&old, &now);

	assert_int_equal(c.old_ns, 50 * MS);
	assert_int_equal(c.ns, 0);
	assert_true(c.noise);
	now.ns = 60 * MS;
	c = change__per_call(&old, &now);
	assert_int_equal(c.ns, 10 * MS);
	assert_false(c.noise);
	now.calls = 0;
	c = change__per_call(&old, &now);
	assert_int_equal(c.ns, 0);
	assert_true(c.noise);
}

static void test_calls(void **state)
{
	struct measured old = plain(MS, 1000), now = plain(MS, 1000);

	assert_true(change__calls_are_noise(&old, &now));
	now.calls++;
	assert_false(change__calls_are_noise(&old, &now));
	/* 3 * sqrt(1000 * 10) = 300 */
	old.sampled = 10;
	assert_true(change__calls_are_noise(&old, &now));
	now.calls = 1290;
	assert_true(change__calls_are_noise(&old, &now));
	now.calls = 1310;
	assert_false(change__calls_are_noise(&old, &now));
}

/* 100 samples of 10 ms have a variance of 100 (10 ms)^2. */
static struct measured samples(uint64_t cnt)
{
	double period_ns = 10.0 * MS;

	return (struct measured){.ns = cnt * 10 * MS,
				 .ns_varied = (double)cnt * period_ns * period_ns};
}

static void test_samples(void **state)
{
	struct measured none = samples(0), old = samples(100), now = samples(128);

	/* sqrt(228) = 15.1 samples: 28 are less than two of these. */
	assert_int_equal(change__of(&old, &now).error_ns, 150996688);
	expect(&old, &now, 280 * MS, true);
	/* sqrt(246) = 15.7: 46 are less than three; sqrt(260) = 16.1: 60 are more. */
	now = samples(146);
	expect(&old, &now, 460 * MS, true);
	now = samples(160);
	assert_int_equal(change__of(&old, &now).error_ns, 161245154);
	expect(&old, &now, 600 * MS, false);
	/* Three times sqrt(8) is 8.5, of 10 it is 9.5. */
	now = samples(8);
	expect(&none, &now, 80 * MS, true);
	now = samples(10);
	expect(&none, &now, 100 * MS, false);
}

static void test_bursts(void **state)
{
	struct measured old = {.calls = 90000, .calls_varied = 900 * 900};
	struct measured now = {.calls = 94000, .calls_varied = 1200 * 1200};

	/* Together 1,500. */
	assert_true(change__calls_are_noise(&old, &now));
	now.calls = 95000;
	assert_false(change__calls_are_noise(&old, &now));
	/* An estimate of which little is known but its order: that of the budget, no news. */
	old = (struct measured){.calls = 9874, .calls_varied = 9446.0 * 9446.0};
	now = (struct measured){.calls = 135000, .calls_varied = 12000.0 * 12000.0};
	assert_true(change__calls_are_noise(&old, &now));
	assert_true(change__calls_are_noise(&now, &old));
	now.calls = 1000000;
	assert_false(change__calls_are_noise(&old, &now));
	now.calls = 0;
	now.calls_varied = 0;
	assert_true(change__calls_are_noise(&old, &now));
	old.calls_varied = 1000.0 * 1000.0;
	assert_false(change__calls_are_noise(&old, &now));
	/* A call's time is as uncertain as the number of calls: 100 of 1,100, of 1.1 s. */
	old = (struct measured){.ns = 1000 * MS, .calls = 1000};
	now = (struct measured){.ns = 1100 * MS, .calls = 1100, .calls_varied = 100 * 100};
	assert_int_equal(change__per_call(&old, &now).old_ns, 1100 * MS);
	assert_int_equal(change__per_call(&old, &now).error_ns, 100 * MS);
}

static void test_extremes(void **state)
{
	struct measured none = {0}, most = {.ns = UINT64_MAX, .calls = UINT64_MAX};
	struct change c = change__of(&none, &most);

	assert_int_equal(c.ns, INT64_MAX);
	assert_false(c.noise);
	c = change__of(&most, &none);
	assert_int_equal(c.ns, -INT64_MAX);
	most.off_ns = most.error_ns = most.longest_ns = most.whole_ns = UINT64_MAX;
	most.variation = 1e308;
	c = change__of(&none, &most);
	assert_int_equal(c.noise_ns, UINT64_MAX);
	none.calls = 1;
	none.ns = UINT64_MAX;
	c = change__per_call(&none, &most);
	assert_int_equal(c.old_ns, UINT64_MAX);
}

static void test_percent(void **state)
{
	struct change c = {.old_ns = 200, .new_ns = 100};
	double percent;

	assert_true(change__percent(&c, &percent));
	assert_true(percent == -50);
	c.old_ns = 0;
	assert_false(change__percent(&c, &percent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_part_of_the_whole),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_more_calls),
		cmocka_unit_test(test_few_unequal_calls),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_stolen),
		cmocka_unit_test(test_busy_machine),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_single_call_waits),
		cmocka_unit_test(test_per_call),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
