// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"
#include "calls/distribution.h"

#define CALLS 10000

/* The bucket a duration falls into, by trying them all. */
static uint32_t bucket_of(uint64_t ns)
{
	uint32_t bucket = 0;

	while (ns >= bucket__high(bucket))
		bucket++;
	return bucket;
}

static void test_bounds(void **state)
{
	uint32_t bucket;

	assert_int_equal(bucket__low(0), 0);
	for (bucket = 0; bucket__high(bucket) != UINT64_MAX; bucket++) {
		uint64_t low = bucket__low(bucket), width = bucket__high(bucket) - low;

		assert_int_equal(bucket__of(low), bucket);
		assert_int_equal(bucket__of(low + width - 1), bucket);
		assert_true(width > 0);
		assert_true(width == 1 || width <= low / 8);
	}
	/* No duration lies beyond the last bucket. */
	assert_true(bucket__low(bucket) == 15ull << 60);
}

static void test_runs(void **state)
{
	struct profile_bucket buckets[] = {{1, 3, 5}, {1, 9, 6}, {4, 0, 1}, {4, 2, 2}, {4, 70, 4}};
	const struct profile p = {.buckets = buckets, .buckets_cnt = 5};

	assert_int_equal(distribution__of(&p, 0).cnt, 0);
	assert_int_equal(distribution__of(&p, 1).cnt, 2);
	assert_int_equal(distribution__of(&p, 1).calls, 11);
	assert_int_equal(distribution__of(&p, 2).cnt, 0);
	assert_ptr_equal(distribution__of(&p, 4).buckets, buckets + 2);
	assert_int_equal(distribution__of(&p, 4).cnt, 3);
	assert_int_equal(distribution__of(&p, 4).calls, 7);
	assert_int_equal(distribution__of(&p, 5).cnt, 0);
}

static void test_nothing(void **state)
{
	const struct distribution none = {0};

	assert_int_equal(distribution__quantile(&none, 0.5, UINT64_MAX, 0), 0);
	assert_int_equal(distribution__quantile(&none, 0.5, 5, 7), 0);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* xorshift64 */
static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Durations of `bits` binary digits at most, all magnitudes alike, against their sorted array. */
static void compare_quantiles(int bits, uint64_t seed)
{
	static const double quantiles[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.9999, 1};
	static uint64_t exact[CALLS];
	static struct profile_bucket buckets[64 * 8];
	struct distribution d = {.buckets = buckets};
	uint32_t bucket = UINT32_MAX;

	for (size_t i = 0; i < CALLS; i++) {
		uint64_t magnitude = next_random(&seed) % bits + 1;

		exact[i] = next_random(&seed) & (UINT64_MAX >> (64 - magnitude));
	}
	qsort(exact, CALLS, sizeof(*exact), compare);
	for (size_t i = 0; i < CALLS; i++) {
		if (bucket_of(exact[i]) != bucket) {
			bucket = bucket_of(exact[i]);
			buckets[d.cnt++] = (struct profile_bucket){0, bucket, 0};
		}
		buckets[d.cnt - 1].calls++;
	}
	d.calls = CALLS;
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		size_t rank = quantiles[i] * (CALLS - 1);
		uint64_t ns = distribution__quantile(&d, quantiles[i], exact[0], exact[CALLS - 1]);
		uint32_t want = bucket_of(exact[rank]), is = bucket_of(ns);

		assert_true(ns >= exact[0] && ns <= exact[CALLS - 1]);
		assert_true(is + 1 >= want && is <= want + 1);
	}
}

static void test_quantiles(void **state)
{
	compare_quantiles(1, 1);
	compare_quantiles(4, 2);
	compare_quantiles(12, 3);
	compare_quantiles(40, 4);
	compare_quantiles(63, 5);
}

static void test_empty_buckets(void **state)
{
	static const struct profile_bucket buckets[] = {{0, 3, 0}, {0, 5, 2}, {0, 9, 0}};
	const struct distribution d = {buckets, 3, 2};

	assert_int_equal(distribution__quantile(&d, 0, 5, 5), 5);
	assert_int_equal(distribution__quantile(&d, 1, 5, 5), 5);
}

/* 2^62 + 600 calls are 2^62 + 1024 as a floating-point number, so the last one seems to lie beyond
 * its bucket, which ends where numbers of 64 bits do. */
static void test_more_calls_than_a_double_counts(void **state)
{
	struct profile_bucket b[] = {{0, 3, 1ull << 62}, {0, BUCKETS - 1, 600}};
	struct distribution d = {b, 2, (1ull << 62) + 600};

	assert_true(distribution__quantile(&d, 1, 3, UINT64_MAX) == UINT64_MAX);
	assert_true(distribution__quantile(&d, 1, 3, UINT64_MAX - 1) == UINT64_MAX - 1);
	assert_int_equal(distribution__quantile(&d, 0.5, 3, UINT64_MAX), 3);
}

/* A single duration is known exactly, whatever its bucket. */
static void test_single(void **state)
{
	const struct profile_bucket bucket = {0, bucket_of(1000), 3};
	const struct distribution d = {&bucket, 1, 3};

	assert_int_equal(distribution__quantile(&d, 0.01, 1000, 1000), 1000);
	assert_int_equal(distribution__quantile(&d, 0.99, 1000, 1000), 1000);
	assert_int_equal(distribution__mean(&d, 1000, 1000), 1000);
}

/* Three calls of [8, 9) ns and one of [1024, 1152): the mean of the middles. */
static void test_mean(void **state)
{
	const struct profile_bucket buckets[] = {{0, bucket_of(8), 3}, {0, bucket_of(1024), 1}};
	const struct distribution d = {buckets, 2, 4}, none = {0};

	assert_int_equal(distribution__mean(&d, 8, 1100), 278); /* (3 * 8.5 + 1088) / 4 */
	assert_int_equal(distribution__mean(&d, 8, 200), 200);
	assert_int_equal(distribution__mean(&d, 300, 1100), 300);
	assert_int_equal(distribution__mean(&none, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_more_calls_than_a_double_counts),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_empty_buckets),
		cmocka_unit_test(test_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
