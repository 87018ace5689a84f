// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles as samples and bursts make them, and what is left of their errors in views. */
#include "estimate_fixture.h"
#include "calls/tree.h"
#include "views/delta.h"
#include "views/filter.h"
#include "views/merge.h"

static void expect(const struct profile *p, const struct call_stats *s, enum estimate_source source,
		   uint64_t calls_error, uint64_t cpu_error_ns)
{
	const struct estimate e = estimate__of(p, s);

	assert_int_equal(e.source, source);
	assert_int_equal(e.calls_error, calls_error);
	assert_int_equal(e.cpu_error_ns, cpu_error_ns);
}

static void test_each_source(void **state)
{
	struct profile *p = estimate_fixture();

	/* 10 ms times the square root of 194, 190 and 4 samples. */
	expect(p, &p->nodes[1].stats, SOURCE_EXACT, 0, 139283882);
	expect(p, &p->nodes[2].stats, SOURCE_BURST, 900, 137840487);
	expect(p, &p->nodes[3].stats, SOURCE_SAMPLE, 0, 20000000);
	assert_true(estimate__any(p));
	/* Called 90,000 times, and no sample has met it: that is not to have taken no time. */
	p->nodes[2].stats.samples = p->nodes[2].stats.sampled_ns = p->nodes[2].stats.varied_ns = 0;
	expect(p, &p->nodes[2].stats, SOURCE_BURST, 900, PERIOD_NS);
	/* Without samples it has the time that was recorded in bursts, and no error of samples. */
	p->sample_period_ns = 0;
	expect(p, &p->nodes[2].stats, SOURCE_BURST, 900, 0);
	profile__free(p);
	p = fixture_small();
	assert_false(estimate__any(p));
	expect(p, &p->functions[0].stats, SOURCE_EXACT, 0, 0);
	profile__free(p);
}

/* Variances add up: 900^2 + 1200^2 = 1500^2, 190 + 100 samples. */
static void test_sums(void **state)
{
	struct profile *p = estimate_fixture(), *merged;

	expect(p, &p->functions[1].stats, SOURCE_BURST, 1500, 170293863);
	assert_int_equal(p->functions[1].stats.burst_calls, 120000);
	assert_int_equal(profile__merge_threads(p, MERGE_PROCESS, &merged), 0);
	assert_int_equal(profile__summarize(merged), 0);
	expect(merged, &merged->functions[1].stats, SOURCE_BURST, 1500, 170293863);
	profile__free(merged);
	profile__free(p);
}

/* A function that a filter hides gives its time, with that time's variance, to its caller; its
 * calls are not counted anywhere. */
static void test_filter(void **state)
{
	static const bool without_hot[] = {true, false, true};
	struct profile *p = estimate_fixture();

	assert_int_equal(profile__filter(p, &(struct profile_filter){.functions = without_hot}), 0);
	assert_int_equal(profile__summarize(p), 0);
	/* 1.94 s that main lent, and 1.9 s of hot. */
	expect(p, &p->functions[0].stats, SOURCE_SAMPLE, 0, 195959179);
	assert_int_equal(p->functions[0].stats.calls, 1);
	assert_int_equal(p->functions[0].stats.burst_calls, 0);
	profile__free(p);
}

static void test_intervals(void **state)
{
	struct profile *now = estimate_fixture(), *before = estimate_fixture(), *delta;

	before->nodes[2].stats.calls_varied = 900 * 900 - 400;
	before->nodes[2].stats.calls = 50000;
	before->nodes[2].stats.burst_calls = 39999;
	before->nodes[2].stats.varied_ns = before->nodes[2].stats.sampled_ns = 900000000;
	before->nodes[2].stats.self_ns = 1000000000;
	assert_int_equal(profile__delta(now, before, &delta), 0);
	expect(delta, &delta->functions[1].stats, SOURCE_BURST, 20, 100000000);
	/* No more calls can have been estimated than there are. */
	assert_int_equal(delta->functions[1].stats.burst_calls, 40000);
	profile__free(delta);
	profile__free(now);
	profile__free(before);
}

/* Half a second of two was left when hot was dropped, which was called 1,000 times a second of CPU
 * time: of 4 s that is 1,000 calls more. What was dropped before the start, 100 times, is 400. */
static void test_share_of_single_calls(void **state)
{
	struct profile *p = fixture_new();
	struct calls_share s;

	fixture_function(p, "hot");
	p->duration_ns = 2000000000;
	p->accounting.cpu_ns = 4000000000;
	p->accounting.entered = p->accounting.timeline_calls = 600;
	s = estimate__share(p);
	assert_int_equal(s.all, 600);
	assert_false(s.estimate);
	fixture_drop(p, (struct profile_drop){0, 1500000000, 1000, 5, 0, "dear"});
	fixture_drop(p, (struct profile_drop){0, 0, 100, 5, 0, "dear"});
	s = estimate__share(p);
	assert_int_equal(s.kept, 600);
	assert_int_equal(s.all, 600 + 1000 + 400);
	assert_true(s.estimate);
	profile__free(p);
}

/* A function's own variance holds for all of its paths together; with some of them left out it is
 * that of the others, and no less than their part of the rate's. */
static void test_own_variance(void **state)
{
	static const bool second_alone[] = {false, true};
	struct profile *p = estimate_fixture(), *merged;
	const struct profile_function *hot = &p->functions[1];

	fixture_estimate(p, (struct profile_estimate){1, 0, 1800. * 1800});
	profile__count_estimates(p);
	assert_int_equal(p->estimates[0].calls, 80000 + 40000);
	assert_int_equal(profile__summarize(p), 0);
	expect(p, &hot->stats, SOURCE_BURST, 1800, 170293863);
	assert_int_equal(hot->stats.calls, 130000);
	assert_int_equal(profile__merge_threads(p, MERGE_PROCESS, &merged), 0);
	assert_int_equal(profile__summarize(merged), 0);
	expect(merged, &merged->functions[1].stats, SOURCE_BURST, 1800, 170293863);
	profile__free(merged);

	/* The second thread's path is uncertain by 1,200; a third of 1,800 is less. */
	assert_int_equal(profile__filter(p, &(struct profile_filter){.threads = second_alone}), 0);
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(estimate__of(p, &hot->stats).calls_error, 1200);
	p->estimates[0].varied = 6000. * 6000;
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(estimate__of(p, &hot->stats).calls_error, 2000);
	profile__free(p);

	/* Without any of its calls nothing is estimated of it. */
	p = estimate_fixture();
	fixture_estimate(p, (struct profile_estimate){1, 120000, 1800. * 1800});
	p->nodes_cnt = 2;
	fixture_finish(p);
	expect(p, &p->functions[1].stats, SOURCE_SAMPLE, 0, 0);
	profile__free(p);
}

/* Of two runs up to two moments: 3,000 before, 5,000 now, so 4,000 for what is between them,
 * however uncertain paths are; a function that was not estimated before has all of it. */
static void test_own_variance_of_an_interval(void **state)
{
	struct profile *now = estimate_fixture(), *before = estimate_fixture(), *delta;

	fixture_estimate(now, (struct profile_estimate){0, 0, 70. * 70});
	fixture_estimate(now, (struct profile_estimate){1, 0, 5000. * 5000});
	profile__count_estimates(now);
	fixture_estimate(before, (struct profile_estimate){1, 0, 3000. * 3000});
	profile__count_estimates(before);
	before->nodes[2].stats.calls = before->nodes[2].stats.burst_calls = 50000;
	now->nodes[1].stats.calls += 4;
	now->nodes[1].stats.burst_calls = 4;
	assert_int_equal(profile__delta(now, before, &delta), 0);
	assert_int_equal(delta->estimates_cnt, 2);
	assert_int_equal(delta->estimates[1].calls, delta->functions[1].stats.burst_calls);
	assert_int_equal(estimate__of(delta, &delta->functions[1].stats).calls_error, 4000);
	assert_int_equal(estimate__of(delta, &delta->functions[0].stats).calls_error, 70);
	profile__free(delta);

	/* The estimate fell by 30,000 calls. */
	now->nodes[2].stats.calls = now->nodes[2].stats.burst_calls = 20000;
	assert_int_equal(profile__delta(now, before, &delta), 0);
	assert_true(delta->estimates[1].varied == 30000. * 30000);
	profile__free(delta);
	profile__free(now);
	profile__free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_source),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_share_of_single_calls),
		cmocka_unit_test(test_own_variance),
		cmocka_unit_test(test_own_variance_of_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
