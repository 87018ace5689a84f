// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "calls/distribution.h"
#include "calls/estimate.h"
#include "fixture.h"
#include "views/delta.h"

static struct profile *now, *before, *delta;

static int setup(void **state)
{
	now = before = delta = NULL;
	return 0;
}

static int teardown(void **state)
{
	profile__free(now);
	profile__free(before);
	profile__free(delta);
	return 0;
}

static struct profile *make(void)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	fixture_function(p, "g");
	fixture_function(p, "h");
	return p;
}

static void subtract(void)
{
	assert_int_equal(profile__delta(now, before, &delta), 0);
}

/* The node reached from thread `t` by these functions, or NULL. */
static const struct profile_node *find(const struct profile *p, uint32_t t, const char *path)
{
	const struct profile_node *found = NULL;
	uint32_t n = p->threads[t].first_root;

	for (; *path; path++) {
		while (n && *p->functions[p->nodes[n].function].name != *path)
			n = p->nodes[n].next_sibling;
		if (!n)
			return NULL;
		found = &p->nodes[n];
		n = found->first_child;
	}
	return found;
}

static void expect(const char *path, uint64_t calls, uint64_t total_ns, uint64_t self_ns)
{
	const struct profile_node *n = find(delta, 0, path);

	assert_non_null(n);
	assert_int_equal(n->stats.calls, calls);
	assert_int_equal(n->stats.total_ns, total_ns);
	assert_int_equal(n->stats.self_ns, self_ns);
}

static void test_without_before_is_a_copy(void **state)
{
	now = fixture_small();
	subtract();
	assert_int_equal(delta->nodes_cnt, now->nodes_cnt);
	assert_memory_equal(delta->nodes, now->nodes, now->nodes_cnt * sizeof(*now->nodes));
	assert_int_equal(delta->accounting.entered, now->accounting.entered);
	assert_ptr_not_equal(delta->nodes, now->nodes);
}

static void test_subtracts_by_path(void **state)
{
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = fixture_node(before, 0, 0, 0, 1, 100, 60);
	fixture_node(before, 0, n, 1, 4, 40, 40);
	before->duration_ns = 1000000000;
	before->paused_ns = 400000000;

	now = make();
	fixture_thread(now, 9, 9, "new");
	fixture_thread(now, 1, 1, "x");
	fixture_node(now, 1, 3, 1, 6, 70, 70);	/* 1: f;g, before its parent */
	fixture_node(now, 0, 0, 1, 1, 5, 5);	/* 2 */
	fixture_node(now, 1, 0, 0, 1, 150, 80); /* 3 */
	fixture_node(now, 1, 0, 1, 3, 30, 30);	/* 4: g at the root is another path */
	now->accounting.open = 1;
	now->accounting.lost = 2;
	now->accounting.untriggered = 9;
	before->accounting.untriggered = 5;
	now->duration_ns = 1500000000;
	now->paused_ns = 500000000;
	now->start_time = 100;
	/* find() looks at thread 0. */
	subtract();
	assert_int_equal(delta->threads[1].tid, 1);
	delta->threads[0].first_root = delta->threads[1].first_root;
	expect("f", 0, 50, 20);
	expect("fg", 2, 30, 30);
	expect("g", 3, 30, 30);
	assert_int_equal(delta->functions[1].stats.calls, 6);
	assert_int_equal(delta->accounting.entered, 6);
	assert_int_equal(delta->accounting.open, 1);
	assert_int_equal(delta->accounting.lost, 2);
	assert_int_equal(delta->accounting.untriggered, 4);
	assert_int_equal(delta->duration_ns, 500000000);
	assert_int_equal(delta->paused_ns, 100000000);
	assert_true(delta->start_time == 101);
}

/* An open call's own time was counted too high before: still it has no less than its callees. */
/* A run's longest call is the interval's only if it was in the interval: else its bucket bounds it.
 */
static void test_extremes_of_the_interval(void **state)
{
	static const uint64_t longest[][3] = {
		/* before, now, of the interval; whose call of 175,000 ns is in [163840, 180224) */
		{298000000, 298000000, 180223},
		{298000000, 300000000, 300000000},
		{170000, 175000, 175000},
	};

	for (size_t i = 0; i < sizeof(longest) / sizeof(*longest); i++) {
		before = make();
		fixture_thread(before, 1, 1, "x");
		fixture_node(before, 0, 0, 0, 1, 298000000, 298000000);
		before->nodes[1].stats.max_ns = longest[i][0];
		before->nodes[1].stats.min_ns = 1000;
		fixture_bucket(before, 0, bucket__of(longest[i][0]), 1);
		now = make();
		fixture_thread(now, 1, 1, "x");
		fixture_node(now, 0, 0, 0, 2, 298175000, 298175000);
		now->nodes[1].stats.max_ns = longest[i][1];
		now->nodes[1].stats.min_ns = 1000;
		fixture_bucket(now, 0, bucket__of(175000), 1);
		if (bucket__of(longest[i][0]) == bucket__of(175000))
			now->buckets[0].calls++;
		else
			fixture_bucket(now, 0, bucket__of(longest[i][0]), 1);
		subtract();
		assert_int_equal(delta->functions[0].stats.max_ns, longest[i][2]);
		assert_int_equal(delta->functions[0].stats.min_ns, 163840);
		teardown(state);
		setup(state);
	}
}

static void test_a_call_has_its_callees_time(void **state)
{
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = fixture_node(before, 0, 0, 0, 1, 100, 100);

	now = make();
	fixture_thread(now, 1, 1, "x");
	n = fixture_node(now, 0, 0, 0, 1, 150, 70);
	fixture_node(now, 0, n, 1, 1, 80, 80);
	subtract();
	expect("f", 0, 80, 0);
	expect("fg", 1, 80, 80);
}

static void estimate(struct profile *p, uint64_t calls, uint64_t error)
{
	uint32_t n;

	fixture_thread(p, 1, 1, "x");
	n = fixture_node(p, 0, 0, 0, calls, 100, 100);
	p->nodes[n].stats.burst_calls = calls;
	p->nodes[n].stats.calls_varied = (double)error * (double)error;
}

static uint64_t interval_error(uint64_t calls_before, uint64_t error_before, uint64_t calls,
			       uint64_t error)
{
	const struct call_stats *s;
	uint64_t found;

	before = make();
	estimate(before, calls_before, error_before);
	now = make();
	estimate(now, calls, error);
	now->nodes[1].stats.self_ns += 10; /* it is news */
	now->nodes[1].stats.raw_self_ns += 10;
	subtract();
	s = &find(delta, 0, "f")->stats;
	assert_int_equal(s->calls, calls > calls_before ? calls - calls_before : 0);
	assert_int_equal(s->burst_calls, s->calls);
	assert_int_equal(estimate__of(delta, s).source, SOURCE_BURST);
	found = estimate__of(delta, s).calls_error;
	teardown(NULL);
	setup(NULL);
	return found;
}

/* Estimates are of all of the run, each time anew. */
static void test_estimates_that_change(void **state)
{
	/* The interval's estimate is as uncertain as that of before, for longer. */
	assert_int_equal(interval_error(1000, 300, 2000, 500), 400);
	/* The later estimate knows better how many calls there were. */
	assert_int_equal(interval_error(1000, 500, 1800, 300), 400);
	assert_int_equal(interval_error(4000, 500, 3800, 300), 400);
	/* The earlier estimate was more wrong than its error said. */
	assert_int_equal(interval_error(4000, 500, 3000, 300), 1000);
	assert_int_equal(interval_error(4000, 500, 3000, 600), 1000);
	/* Squares that are larger than any integer. */
	assert_int_equal(interval_error(10000000000, 6000000000, 20000000000, 10000000000),
			 8000000000);
	assert_int_equal(interval_error(40000000000, 5000000000, 30000000000, 3000000000),
			 10000000000);
}

#define INTERVALS   400
#define INTERVAL_NS 5000000000ull /* of CPU time */
#define OF_INTERVAL 19000	  /* calls */
#define DEVIATES    64000	  /* estimate of one interval */

/* The run up to its interval number `i`, from 1 on, with this estimate of its calls. */
static struct profile *run_so_far(uint64_t i, double calls)
{
	struct profile *p = make();

	estimate(p, calls > 0 ? (uint64_t)calls : 0, 0);
	p->nodes[1].stats.calls_varied = (double)i * DEVIATES * DEVIATES;
	p->accounting.cpu_ns = i * INTERVAL_NS;
	return p;
}

/* The calls that the next interval shows. It ends with `now`, which is `before` then. */
static uint64_t next_interval(struct profile *p)
{
	uint64_t calls;

	now = p;
	assert_int_equal(profile__interval(now, before, &delta), 0);
	calls = delta->functions[0].stats.calls;
	assert_int_equal(delta->functions[0].stats.burst_calls, calls);
	profile__free(before);
	profile__free(delta);
	before = now;
	now = delta = NULL;
	return calls;
}

/* -DEVIATES, 0 or DEVIATES, each as often as the others. */
static double deviation(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return ((double)((*seed >> 16) % 3) - 1) * DEVIATES;
}

/* The estimate of a run falls back in one interval and leaps in another: what intervals show of it
 * is as many calls as the run has, and most intervals are near to what they have had. */
static void test_intervals_add_up(void **state)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		double run = 0, deviates = 0, shown = 0, far = 0;
		uint32_t random = seed;

		for (uint64_t i = 1; i <= INTERVALS; i++) {
			double calls;

			deviates += deviation(&random);
			run = fmax(0, OF_INTERVAL * (double)i + deviates);
			calls = (double)next_interval(run_so_far(i, run));
			shown += calls;
			far += i > 20 && fabs(calls - OF_INTERVAL) > DEVIATES / 2;
		}
		assert_true(fabs(shown - run) < 0.1 * run);
		assert_true(far < 0.1 * INTERVALS);
		teardown(NULL);
		setup(NULL);
	}
}

/* Calls that intervals have shown too many of are made up for by later ones, though the estimate
 * does not change any more. */
static void test_estimates_that_end(void **state)
{
	uint64_t shown = 0;

	for (uint64_t i = 1; i <= 10; i++)
		shown += next_interval(run_so_far(i, 1000000 * (double)i));
	shown += next_interval(run_so_far(11, 9000000));
	assert_true(shown > 9000000);
	for (uint64_t i = 12; i <= 20; i++) {
		struct profile *p = run_so_far(i, 9500000);

		p->nodes[1].stats.calls_varied = 11. * DEVIATES * DEVIATES;
		shown += next_interval(p);
	}
	assert_in_range(shown, 9499000, 10010000);
}

/* Calls of a path whose estimate is hardly known, of a run of `cnt` intervals, and what the last
 * one of them shows. Bursts, or samples, have met it in the first interval only. */
static uint64_t last_of_phase(uint64_t cnt, bool in_bursts)
{
	uint64_t calls = 0;

	for (uint64_t i = 1; i <= cnt; i++) {
		struct profile *p = run_so_far(i, 1000000 * (1 + 0.001 * (double)(i % 2)));

		p->nodes[1].stats.calls_varied = 1e12 * (1 + 0.01 * (double)(i % 2));
		p->nodes[1].stats.recorded_calls = in_bursts ? 500 : 0;
		p->nodes[1].stats.samples = in_bursts ? 0 : 100;
		p->accounting.bursts = 10 * i;
		calls = next_interval(p);
	}
	return calls;
}

/* A function that was called in a phase that is over has no calls in later intervals, though the
 * run's estimate is as uncertain as it is large, and changes a little with each interval. */
static void test_phases_that_are_over(void **state)
{
	for (int in_bursts = 0; in_bursts < 2; in_bursts++) {
		assert_in_range(last_of_phase(20, in_bursts), 0, 10000);
		teardown(NULL);
		setup(NULL);
	}
}

/* A path that bursts meet as often as ever has as many calls as in each interval before. */
static void test_phases_that_go_on(void **state)
{
	uint64_t shown = 0;

	for (uint64_t i = 1; i <= 20; i++) {
		struct profile *p = run_so_far(i, 50000 * (double)i);

		p->nodes[1].stats.calls_varied = 1e12;
		p->nodes[1].stats.calls_varied += (double)i;
		p->nodes[1].stats.recorded_calls = 50 * i;
		p->accounting.bursts = 10 * i;
		shown = next_interval(p);
		assert_in_range(shown, 49000, 51000);
	}
}

/* The run's first `i` intervals, of a function that came back in the fifth and has had ten exact
 * calls in each since. The estimate of its calls before goes on to change, as what samples tell of
 * them does. */
static struct profile *run_that_came_back(uint64_t i)
{
	struct profile *p = run_so_far(i, OF_INTERVAL * 5 + 1000 * (double)i);

	p->duration_ns = i * INTERVAL_NS;
	p->nodes[1].stats.calls += i > 5 ? 10 * (i - 5) : 0;
	fixture_drop(p, (struct profile_drop){
				.function = 0,
				.at_ns = 1,
				.back_ns = i < 5 ? 0 : 5 * INTERVAL_NS - 1,
			});
	return p;
}

/* Calls that earlier intervals have shown too few of are in no interval after the function's
 * return: from then on its calls are exact. */
static void test_what_has_come_back(void **state)
{
	for (uint64_t i = 1; i <= 5; i++)
		next_interval(run_that_came_back(i));
	for (uint64_t i = 6; i <= 12; i++) {
		const struct call_stats *s;

		now = run_that_came_back(i);
		assert_int_equal(profile__interval(now, before, &delta), 0);
		s = &delta->functions[0].stats;
		assert_int_equal(s->calls, 10);
		assert_int_equal(s->burst_calls, 0);
		assert_true(s->calls_varied == 0);
		profile__free(before);
		profile__free(delta);
		before = now;
		now = delta = NULL;
	}
	/* Dropped once more it is estimated again. */
	now = run_that_came_back(13);
	fixture_drop(now, (struct profile_drop){.function = 0, .at_ns = 12 * INTERVAL_NS + 1});
	assert_int_equal(profile__interval(now, before, &delta), 0);
	assert_true(delta->functions[0].stats.calls_varied > 0);
}

/* An interval in which the target has not run has no calls; nor is it told later that it had. */
static void test_intervals_without_cpu_time(void **state)
{
	struct profile *p;

	next_interval(run_so_far(1, OF_INTERVAL));
	next_interval(run_so_far(2, 2 * OF_INTERVAL));
	p = run_so_far(2, 10 * OF_INTERVAL);
	assert_int_equal(next_interval(p), 0);
}

/* All is new of what was counted up to now; of a path that looks meet at last it is not. */
static void test_first_estimate(void **state)
{
	struct profile *p = run_so_far(4, 0);

	p->nodes[1].stats.calls_varied = 0;
	next_interval(p);
	assert_int_equal(next_interval(run_so_far(5, 5000)), 5000);

	p = run_so_far(6, 6000);
	fixture_node(p, 0, 1, 1, 1000000, 1, 1);
	p->nodes[2].stats.burst_calls = 1000000;
	p->nodes[2].stats.calls_varied = 1e12;
	now = p;
	assert_int_equal(profile__interval(now, before, &delta), 0);
	assert_in_range(find(delta, 0, "fg")->stats.calls, 100000, 300000);
	assert_int_equal(now->nodes[2].stats.calls, find(delta, 0, "fg")->stats.calls);
}

static void test_drops_what_is_no_news(void **state)
{
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = fixture_node(before, 0, 0, 0, 1, 100, 60);
	fixture_node(before, 0, n, 1, 4, 40, 40);
	fixture_node(before, 0, 0, 2, 1, 1, 1);

	now = make();
	fixture_thread(now, 1, 1, "x");
	n = fixture_node(now, 0, 0, 0, 1, 100, 60);
	fixture_node(now, 0, 0, 2, 1, 1, 1);
	fixture_node(now, 0, n, 1, 4, 40, 40);
	n = fixture_node(now, 0, n, 2, 0, 0, 0);
	fixture_node(now, 0, n, 1, 1, 0, 0); /* the one news */
	subtract();
	assert_int_equal(delta->nodes_cnt, 1 + 3);
	expect("f", 0, 0, 0);
	expect("fh", 0, 0, 0);
	expect("fhg", 1, 0, 0);
	assert_null(find(delta, 0, "fg"));
	assert_null(find(delta, 0, "h"));
}

static void test_no_news_at_all(void **state)
{
	now = fixture_small();
	before = fixture_small();
	subtract();
	assert_int_equal(delta->nodes_cnt, 1);
	assert_int_equal(delta->threads[0].first_root, 0);
	assert_int_equal(delta->functions[0].stats.calls, 0);
}

static void test_reused_tid_is_another_thread(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	fixture_node(before, 0, 0, 0, 1, 100, 100);
	now = make();
	fixture_thread(now, 1, 1, "x");
	now->threads[0].start_ns++;
	fixture_node(now, 0, 0, 0, 3, 30, 30);
	subtract();
	expect("f", 3, 30, 30);
}

static void test_saturates(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	fixture_node(before, 0, 0, 0, 1, 100, 100);
	now = make();
	fixture_thread(now, 1, 1, "x");
	fixture_node(now, 0, 0, 0, 2, 99, 98);
	subtract();
	expect("f", 1, 0, 0);
	/* No bucket tells of the interval, and the longest call was before it. */
	assert_int_equal(delta->nodes[1].stats.max_ns, 0);
}

static uint32_t add(struct profile *p, uint32_t parent, uint32_t function, struct call_stats stats)
{
	uint32_t n =
		fixture_node(p, 0, parent, function, stats.calls, stats.total_ns, stats.self_ns);

	p->nodes[n].stats = stats;
	return n;
}

/* Own figures are subtracted, inclusive ones summed up; no one waits for longer than it took. */
static void test_all_figures(void **state)
{
	const struct call_stats *s;
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = add(before, 0, 0, (struct call_stats){1, 100, 60, 50, 20, 150, 100, 9, 5, 1, 100});
	add(before, n, 1, (struct call_stats){4, 40, 40, 30, 30, 50, 50, 4, 4, 1, 30});

	now = make();
	fixture_thread(now, 1, 1, "x");
	n = add(now, 0, 0, (struct call_stats){3, 300, 110, 220, 90, 400, 170, 20, 7, 1, 120});
	add(now, n, 1, (struct call_stats){9, 190, 190, 130, 130, 230, 230, 13, 13, 1, 50});
	subtract();
	s = &find(delta, 0, "f")->stats;
	assert_int_equal(s->self_ns, 50);
	assert_int_equal(s->off_self_ns, 50); /* not 70 */
	assert_int_equal(s->raw_self_ns, 70);
	assert_int_equal(s->self_error_ns, 2);
	assert_int_equal(s->total_ns, 50 + 150);
	assert_int_equal(s->off_ns, 50 + 100);
	assert_int_equal(s->raw_total_ns, 70 + 180);
	assert_int_equal(s->error_ns, 2 + 9);
	s = &find(delta, 0, "fg")->stats;
	assert_int_equal(s->calls, 5);
	assert_int_equal(s->off_ns, 100);
	assert_int_equal(s->error_ns, 9);
	assert_int_equal(delta->functions[0].stats.raw_total_ns, 250);
	assert_int_equal(delta->functions[1].spent_ns, 150);
}

/* Correction may have left nothing of an open call's time. */
static void test_raw_time_is_news(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	add(before, 0, 0, (struct call_stats){.calls = 1, .raw_total_ns = 9, .raw_self_ns = 9});
	now = make();
	fixture_thread(now, 1, 1, "x");
	add(now, 0, 0, (struct call_stats){.calls = 1, .raw_total_ns = 12, .raw_self_ns = 12});
	subtract();
	assert_int_equal(find(delta, 0, "f")->stats.raw_total_ns, 3);
}

static void test_accounts(void **state)
{
	before = make();
	before->accounting = (struct profile_accounting){
		.dropped = 1, .probe_ns = 20, .cpu_ns = 300, .undistributed = 4000};
	now = make();
	now->accounting = (struct profile_accounting){
		.dropped = 11, .probe_ns = 25, .cpu_ns = 1300, .undistributed = 4007};
	now->max_overhead = 5;
	subtract();
	assert_int_equal(delta->accounting.dropped, 10);
	assert_int_equal(delta->accounting.probe_ns, 5);
	assert_int_equal(delta->accounting.cpu_ns, 1000);
	assert_int_equal(delta->accounting.undistributed, 7);
	assert_true(delta->max_overhead == 5);
}

static void expect_buckets(const struct profile_bucket *expected, size_t cnt)
{
	assert_int_equal(delta->buckets_cnt, cnt);
	for (size_t i = 0; i < cnt; i++) {
		assert_int_equal(delta->buckets[i].function, expected[i].function);
		assert_int_equal(delta->buckets[i].bucket, expected[i].bucket);
		assert_int_equal(delta->buckets[i].calls, expected[i].calls);
	}
}

static void test_buckets(void **state)
{
	before = make();
	fixture_bucket(before, 0, 7, 5);
	fixture_bucket(before, 1, 3, 1);
	fixture_bucket(before, 1, 9, 6);
	now = make();
	fixture_bucket(now, 0, 3, 2); /* new */
	fixture_bucket(now, 0, 7, 5); /* no news */
	fixture_bucket(now, 0, 9, 1);
	fixture_bucket(now, 1, 3, 4);
	fixture_bucket(now, 1, 9, 7);
	fixture_bucket(now, 2, 3, 8);
	subtract();
	expect_buckets(
		(struct profile_bucket[]){{0, 3, 2}, {0, 9, 1}, {1, 3, 3}, {1, 9, 1}, {2, 3, 8}},
		5);
	/* `now` has its own still. */
	assert_int_equal(now->buckets_cnt, 6);
	assert_int_equal(now->buckets[3].calls, 4);
}

static void test_drops(void **state)
{
	before = make();
	fixture_drop(before, (struct profile_drop){.function = 2, .at_ns = 1});
	now = make();
	fixture_drop(now, (struct profile_drop){.function = 2, .at_ns = 1});
	fixture_drop(now, (struct profile_drop){.function = 0, .at_ns = 5});
	fixture_drop(now, (struct profile_drop){.function = 1, .at_ns = 6});
	subtract();
	assert_int_equal(delta->drops_cnt, 2);
	assert_int_equal(delta->drops[0].function, 0);
	assert_int_equal(delta->drops[1].at_ns, 6);
	assert_int_equal(now->drops_cnt, 3);
	assert_int_equal(now->drops[0].function, 2);
}

/* The end of a drop is news as well, once. */
static void test_drops_that_end(void **state)
{
	before = make();
	fixture_drop(before, (struct profile_drop){.function = 0, .at_ns = 1, .back_ns = 4});
	fixture_drop(before, (struct profile_drop){.function = 2, .at_ns = 1});
	fixture_drop(before, (struct profile_drop){.function = 1, .at_ns = 2});
	now = make();
	fixture_drop(now, (struct profile_drop){.function = 0, .at_ns = 1, .back_ns = 4});
	fixture_drop(now, (struct profile_drop){.function = 2, .at_ns = 1, .back_ns = 5});
	fixture_drop(now, (struct profile_drop){.function = 1, .at_ns = 2});
	subtract();
	assert_int_equal(delta->drops_cnt, 1);
	assert_int_equal(delta->drops[0].function, 2);
	assert_int_equal(delta->drops[0].back_ns, 5);
}

static void test_cpu_shares(void **state)
{
	before = make();
	fixture_cpu_share(before, (struct profile_cpu_share){"[kernel]", 10, 0, 0});
	now = make();
	fixture_cpu_share(now, (struct profile_cpu_share){"[kernel]", 12, 0, 0});
	fixture_cpu_share(now, (struct profile_cpu_share){"/lib/libz.so", 5, 3, 1});
	subtract();
	assert_int_equal(delta->cpu_shares_cnt, 2);
	assert_int_equal(delta->cpu_shares[0].samples, 2);
	assert_int_equal(delta->cpu_shares[1].samples, 5);
	assert_int_equal(delta->cpu_shares[1].traced, 3);
	assert_int_equal(now->cpu_shares[0].samples, 12);
}

/* A path with so many samples, which stand for so long. */
static uint32_t sampled(struct profile *p, uint32_t function, uint64_t samples, uint64_t ns)
{
	uint32_t n = fixture_node(p, 0, 0, function, 0, ns, ns);

	p->nodes[n].stats.samples = samples;
	p->nodes[n].stats.sampled_ns = ns;
	return n;
}

/* The time that the samples of `g` stand for becomes less; the CPU times of all paths add up to
 * what is new all the same. */
static void test_samples_add_up(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	fixture_node(before, 0, 0, 0, 1, 100, 100);
	sampled(before, 1, 4, 400);
	sampled(before, 2, 1, 200);
	now = make();
	fixture_thread(now, 1, 1, "x");
	fixture_node(now, 0, 0, 0, 2, 200, 200);
	now->sample_period_ns = 1;
	sampled(now, 1, 6, 360);
	sampled(now, 2, 4, 440);
	/* 300 ns are new: 100 were measured, and of the samples one path alone has got more. */
	subtract();
	expect("f", 1, 100, 100);
	expect("h", 0, 200, 200);
	assert_int_equal(find(delta, 0, "h")->stats.samples, 3);
	assert_int_equal(find(delta, 0, "g")->stats.self_ns, 0);
}

/* Where no sample has come since, time is where it was before. */
static void test_no_new_samples(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	sampled(before, 1, 3, 300);
	sampled(before, 2, 1, 100);
	now = make();
	fixture_thread(now, 1, 1, "x");
	now->sample_period_ns = 1;
	sampled(now, 1, 3, 330);
	sampled(now, 2, 1, 110);
	subtract();
	expect("g", 0, 30, 30);
	expect("h", 0, 10, 10);
}

static void test_copies_share_nothing(void **state)
{
	now = make();
	fixture_bucket(now, 0, 7, 5);
	fixture_drop(now, (struct profile_drop){.function = 2});
	subtract();
	expect_buckets((struct profile_bucket[]){{0, 7, 5}}, 1);
	assert_ptr_not_equal(delta->buckets, now->buckets);
	assert_int_equal(delta->drops_cnt, 1);
	assert_ptr_not_equal(delta->drops, now->drops);
}

/* Wide and deep enough for anything but linear time to show. */
static struct profile *make_big(uint64_t calls)
{
	struct profile *p = make();
	uint32_t i, n = 0;

	for (i = 0; i < 200000; i++)
		fixture_function(p, "many");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 200000; i++)
		fixture_node(p, 0, 0, i, calls, 1, 1);
	for (i = 0; i < 200000; i++)
		n = fixture_node(p, 0, n ? n : 1, 0, calls, 1, 1);
	return p;
}

static struct profile *with_lines(void)
{
	struct profile *p = make();

	fixture_inline(p, (struct profile_inline){"g", "a.c", 3, 0});
	fixture_line(p, (struct profile_line){"a.c", 1, 0, 0, 10, 100, 10, NULL});
	fixture_line(p, (struct profile_line){"a.c", 1, 0, 1, 20, 200, 20, NULL});
	fixture_line(p, (struct profile_line){"a.c", 2, 1, 0, 30, 300, 30, NULL});
	p->accounting.line_misses = 7;
	return p;
}

static void test_lines(void **state)
{
	static const struct profile_line more = {"a.c", 1, 1, 0, 4, 40, 4, NULL};

	before = with_lines();
	before->lines[0].hits = 9;
	before->lines[1].ns = 150;
	before->lines[2].ns = 301; /* an open call's, a moment apart */
	before->accounting.line_misses = 5;
	now = with_lines();
	/* A function of a file that was loaded meanwhile. */
	fixture_line(now, now->lines[2]);
	now->lines[2] = more;
	subtract();
	assert_int_equal(delta->lines_cnt, 4);
	assert_int_equal(delta->lines[0].hits, 1);
	assert_int_equal(delta->lines[0].ns, 0);
	assert_int_equal(delta->lines[1].hits, 0);
	assert_int_equal(delta->lines[1].ns, 50);
	assert_int_equal(delta->lines[2].hits, 4);
	assert_int_equal(delta->lines[2].ns, 40);
	assert_int_equal(delta->lines[3].hits, 0);
	assert_int_equal(delta->lines[3].ns, 0);
	assert_int_equal(delta->inlines_cnt, 1);
	assert_int_equal(delta->accounting.line_misses, 2);
	assert_int_equal(now->lines[0].hits, 10);
}

static void test_big(void **state)
{
	before = make_big(1);
	now = make_big(3);
	subtract();
	assert_int_equal(delta->nodes_cnt, 400001);
	assert_int_equal(delta->functions[0].stats.calls, 2 * 200001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_without_before_is_a_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extremes_of_the_interval, setup, teardown),
		cmocka_unit_test_setup_teardown(test_subtracts_by_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_call_has_its_callees_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_estimates_that_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_intervals_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_estimates_that_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_phases_that_are_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_phases_that_go_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_has_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_intervals_without_cpu_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_estimate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drops_what_is_no_news, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_news_at_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reused_tid_is_another_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_figures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_raw_time_is_news, setup, teardown),
		cmocka_unit_test_setup_teardown(test_accounts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_buckets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drops_that_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpu_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_new_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copies_share_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_big, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
