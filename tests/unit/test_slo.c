// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules (--slo): windows of what functions have done, and when a broken one is looked into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "slo/machine.h"
#include "slo/windows.h"

#define MS 1000000ull
#define S  1000000000ull

static struct assertion rules[] = {
	{.text = "handle: p99 < 5ms", .measure = MEASURE_P99, .comparison = LESS, .limit = 5 * MS},
	{.text = "handle: max <= 1s",
	 .measure = MEASURE_MAX,
	 .comparison = LESS_OR_EQUAL,
	 .limit = S},
	{.text = "f: avg < 2ms", .measure = MEASURE_AVG, .comparison = LESS, .limit = 2 * MS},
};

/* Calls so far of one or two functions. */
static struct profile_bucket buckets[8];
static struct profile calls = {.buckets = buckets};

static void have_calls(uint32_t function, uint64_t ns, uint64_t cnt)
{
	for (size_t i = 0; i < calls.buckets_cnt; i++) {
		if (buckets[i].function == function && buckets[i].bucket == bucket__of(ns)) {
			buckets[i].calls += cnt;
			return;
		}
	}
	buckets[calls.buckets_cnt++] = (struct profile_bucket){function, bucket__of(ns), cnt};
}

static struct slo_windows *watch(uint32_t rule, uint32_t function)
{
	struct slo_windows *w;

	calls.buckets_cnt = 0;
	assert_int_equal(slo_windows__new(rules, S, &w), 0);
	assert_int_equal(slo_windows__add(w, rule, function, 0), 0);
	return w;
}

static struct slo_look look(struct slo_windows *w, uint64_t now_ns)
{
	struct slo_look l;

	slo_windows__look(w, &calls, now_ns, &l);
	return l;
}

/* Each window is judged by its own calls alone. */
static void test_windows(void **state)
{
	struct slo_windows *w = watch(0, 7);
	struct slo_look l;

	have_calls(7, MS, 1000);
	assert_int_equal(look(w, S / 2).judged, 0); /* it has not ended */
	l = look(w, S);
	assert_int_equal(l.judged, 1);
	assert_int_equal(l.broken, 0);

	have_calls(7, MS, 980);
	have_calls(7, 20 * MS, 20);
	l = look(w, 2 * S);
	assert_int_equal(l.broken, 1);
	assert_int_equal(l.calls, 1000);
	assert_true(l.value_ns > 18 * MS && l.value_ns < 23 * MS);
	assert_int_equal(l.worst.function, 7);

	have_calls(7, MS, 1000);
	assert_int_equal(look(w, 3 * S).broken, 0);
	slo_windows__free(w);
}

/* Too few calls tell nothing; the window goes on until there are enough, or for ten windows. */
static void test_few(void **state)
{
	struct slo_windows *w = watch(0, 7);
	const struct slo_pair *pairs;
	struct slo_look l;
	size_t cnt;

	have_calls(7, 20 * MS, 99);
	assert_int_equal(look(w, S).judged, 0);
	have_calls(7, 20 * MS, 1);
	l = look(w, 2 * S);
	assert_int_equal(l.broken, 1);
	assert_int_equal(l.calls, 100);
	have_calls(7, 20 * MS, 99);
	assert_int_equal(look(w, 11 * S).judged, 0);
	assert_int_equal(look(w, 12 * S).judged, 0);
	have_calls(7, 20 * MS, 99); /* the 99 before are forgotten */
	assert_int_equal(look(w, 13 * S).judged, 0);
	pairs = slo_windows__pairs(w, &cnt);
	assert_int_equal(cnt, 1);
	assert_int_equal(pairs[0].windows, 1);
	assert_int_equal(pairs[0].broken, 1);
	assert_int_equal(pairs[0].thin, 1);
	slo_windows__free(w);
}

static void test_none(void **state)
{
	struct slo_windows *w = watch(1, 7);

	have_calls(3, 20 * S, 5); /* of another function */
	assert_int_equal(look(w, S).judged, 0);
	slo_windows__free(w);
}

/* A single call decides by max; an average needs ten. */
static void test_measures(void **state)
{
	struct slo_windows *w = watch(1, 7);

	have_calls(7, S / 2, 1);
	assert_int_equal(look(w, S).judged, 1);
	have_calls(7, 2 * S, 1);
	assert_int_equal(look(w, 2 * S).broken, 1);
	slo_windows__free(w);

	w = watch(2, 7);
	have_calls(7, MS, 5);
	have_calls(7, 4 * MS, 4);
	assert_int_equal(look(w, S).judged, 0);
	have_calls(7, 4 * MS, 1);
	assert_int_equal(look(w, 2 * S).broken, 1);
	slo_windows__free(w);
}

/* If several rules are broken, the one that is furthest over its limit is told. */
static void test_worst(void **state)
{
	struct slo_windows *w = watch(0, 7);
	struct slo_look l;

	assert_int_equal(slo_windows__add(w, 2, 8, 0), 0);
	have_calls(7, 10 * MS, 100);
	have_calls(8, 10 * MS, 100);
	l = look(w, S);
	assert_int_equal(l.judged, 2);
	assert_int_equal(l.broken, 2);
	assert_int_equal(l.worst.function, 8);
	assert_int_equal(l.worst.rule, 2);
	slo_windows__free(w);
}

static void test_full(void **state)
{
	struct slo_windows *w = watch(0, 0);

	for (uint32_t i = 1; i < SLO_FUNCTIONS_MAX; i++)
		assert_int_equal(slo_windows__add(w, 0, i, 0), 0);
	assert_int_equal(slo_windows__add(w, 0, 9999, 0), -7 /* E2BIG */);
	slo_windows__free(w);
}

static void test_incident(void **state)
{
	struct slo_machine m;

	slo_machine__init(&m, S, 0);
	assert_int_equal(slo_machine__judged(&m, false, S), SLO_NOTHING);
	assert_int_equal(slo_machine__judged(&m, true, 2 * S), SLO_LOOK_CLOSER);
	assert_int_equal(slo_machine__judged(&m, true, 3 * S), SLO_NOTHING);
	assert_int_equal(m.state, SLO_RECORDING);
	assert_int_equal(slo_machine__judged(&m, true, 4 * S), SLO_NOTHING);
	assert_int_equal(slo_machine__tick(&m, 5 * S), SLO_WRITE); /* 3 s after the first one */
	assert_int_equal(m.state, SLO_CALM);
}

/* The rule holds again: the recording has slow and healthy sessions, and is written at once. */
static void test_recovers(void **state)
{
	struct slo_machine m;

	slo_machine__init(&m, S, 0);
	slo_machine__judged(&m, true, S);
	slo_machine__judged(&m, true, 2 * S);
	assert_int_equal(slo_machine__judged(&m, false, 2 * S + S / 4), SLO_NOTHING);
	assert_int_equal(slo_machine__judged(&m, false, 2 * S + S / 2), SLO_WRITE);
}

/* A single broken window is watched for five, then let go. */
static void test_passes(void **state)
{
	struct slo_machine m;

	slo_machine__init(&m, S, 0);
	assert_int_equal(slo_machine__judged(&m, true, S), SLO_LOOK_CLOSER);
	for (uint64_t t = 2; t < 6; t++)
		assert_int_equal(slo_machine__judged(&m, false, t * S), SLO_NOTHING);
	assert_int_equal(slo_machine__tick(&m, 6 * S), SLO_LET_GO);
	assert_int_equal(m.state, SLO_CALM);
}

/* How often it is looked into within an hour, if windows are broken as `broken` says. */
static unsigned int looks_in_an_hour(bool (*broken)(uint64_t second))
{
	struct slo_machine m;
	unsigned int looks = 0;

	slo_machine__init(&m, S, 0);
	for (uint64_t t = 1; t <= 3600; t++)
		looks += slo_machine__judged(&m, broken(t), t * S) == SLO_LOOK_CLOSER;
	return looks;
}

static bool always(uint64_t second)
{
	return true;
}

static bool every_other(uint64_t second)
{
	return second % 2;
}

static bool twice_an_hour(uint64_t second)
{
	return second % 1800 < 3;
}

/* A rule that is always broken, or flaps, is looked into ever less often: 10, 20, 40 ... 600 s
 * apart. */
static void test_bounded(void **state)
{
	assert_in_range(looks_in_an_hour(always), 10, 12);
	assert_in_range(looks_in_an_hour(every_other), 10, 12);
	assert_in_range(looks_in_an_hour(twice_an_hour), 2, 3);
}

/* After an hour of health, rest is short again. */
static void test_forgets(void **state)
{
	struct slo_machine m;
	uint64_t t = 0;

	slo_machine__init(&m, S, 0);
	while (t < 1000)
		slo_machine__judged(&m, true, ++t * S);
	while (t < 5000)
		slo_machine__judged(&m, false, ++t * S);
	assert_int_equal(slo_machine__judged(&m, true, ++t * S), SLO_LOOK_CLOSER);
	assert_int_equal(m.rest_ns, 10 * S);
}

static void test_end(void **state)
{
	struct slo_machine m;

	slo_machine__init(&m, S, 0);
	assert_int_equal(slo_machine__end(&m, S), SLO_NOTHING);
	slo_machine__init(&m, S, 0);
	slo_machine__judged(&m, true, S);
	assert_int_equal(slo_machine__end(&m, S), SLO_WRITE);
	assert_int_equal(slo_machine__end(&m, S), SLO_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),	 cmocka_unit_test(test_few),
		cmocka_unit_test(test_none),	 cmocka_unit_test(test_measures),
		cmocka_unit_test(test_worst),	 cmocka_unit_test(test_full),
		cmocka_unit_test(test_incident), cmocka_unit_test(test_recovers),
		cmocka_unit_test(test_passes),	 cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_forgets),	 cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
