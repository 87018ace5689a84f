// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles as samples and bursts make them, and what is left of their errors in views. */
#include "calls/estimate.h"
#include "fixture.h"
#include "views/delta.h"
#include "views/filter.h"
#include "views/merge.h"

#define PERIOD_NS 10000000

/*
 * main is exact; hot, below it, was seen in bursts; memcpy and the kernel's function are known from
 * samples alone. A second thread calls hot as well.
 */
static struct profile *make(void)
{
	struct profile *p = fixture_new();
	uint32_t main_ = fixture_function(p, "main"), hot = fixture_function(p, "hot");
	uint32_t copy = fixture_function(p, "memcpy"), n;

	p->sample_period_ns = PERIOD_NS;
	p->accounting.bursts = 4;
	p->accounting.burst_ns = 20000000;
	fixture_thread(p, 1, 1, "one");
	fixture_thread(p, 1, 2, "two");
	n = fixture_node(p, 0, 0, main_, 1, 2000000000, 60000000);
	p->nodes[n].stats.varied_ns = 1940000000;
	n = fixture_node(p, 0, n, hot, 90000, 1940000000, 1900000000);
	p->nodes[n].stats.burst_calls = 80000;
	p->nodes[n].stats.calls_varied = 900 * 900;
	p->nodes[n].stats.samples = 190;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = 1900000000;
	n = fixture_node(p, 0, n, copy, 0, 40000000, 40000000);
	p->nodes[n].stats.samples = 4;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = 40000000;
	n = fixture_node(p, 1, 0, hot, 40000, 1000000000, 1000000000);
	p->nodes[n].stats.burst_calls = 40000;
	p->nodes[n].stats.calls_varied = 1200 * 1200;
	p->nodes[n].stats.samples = 100;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = 1000000000;
	fixture_finish(p);
	return p;
}

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
	struct profile *p = make();

	/* 10 ms times the square root of 194, 190 and 4 samples. */
	expect(p, &p->nodes[1].stats, SOURCE_EXACT, 0, 139283882);
	expect(p, &p->nodes[2].stats, SOURCE_BURST, 900, 137840487);
	expect(p, &p->nodes[3].stats, SOURCE_SAMPLE, 0, 20000000);
	assert_true(estimate__any(p));
	profile__free(p);
	p = fixture_small();
	assert_false(estimate__any(p));
	expect(p, &p->functions[0].stats, SOURCE_EXACT, 0, 0);
	profile__free(p);
}

/* Variances add up: 900^2 + 1200^2 = 1500^2, 190 + 100 samples. */
static void test_sums(void **state)
{
	struct profile *p = make(), *merged;

	expect(p, &p->functions[1].stats, SOURCE_BURST, 1500, 170293863);
	assert_int_equal(p->functions[1].stats.burst_calls, 120000);
	assert_int_equal(profile__merge_threads(p, MERGE_PROCESS, &merged), 0);
	assert_int_equal(profile__summarize(merged), 0);
	expect(merged, &merged->functions[1].stats, SOURCE_BURST, 1500, 170293863);
	profile__free(merged);
	profile__free(p);
}

/* What becomes its caller's own brings its variance along; its calls are nobody's. */
static void test_filter(void **state)
{
	static const bool without_hot[] = {true, false, true};
	struct profile *p = make();

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
	struct profile *now = make(), *before = make(), *delta;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_source),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
