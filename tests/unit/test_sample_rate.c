// SPDX-License-Identifier: GPL-2.0-or-later
/* How many samples a second a budget affords. */
#include "budget/sample_rate.h"
#include "fixture.h"

#define US 1000ull

/* A limit of 5 %, where a sample costs 25 us. */
static struct sample_budget usual(void)
{
	return (struct sample_budget){.limit = 0.05,
				      .least_hz = 97,
				      .cpus = 2,
				      .program_ns = 8 * US,
				      .interrupt_ns = 17 * US};
}

/* The cost of a second's samples, as a share of the second. */
static double share(const struct sample_budget *b, uint32_t hz)
{
	return hz * (double)(b->program_ns + b->interrupt_ns) / 1e9;
}

/* A tenth of the limit goes to samples, and never more than to those that all runs take. */
static void test_tenth(void **state)
{
	struct sample_budget b = usual();

	assert_int_equal(sample_rate__afford(&b), 199); /* the prime below 0.005 / 25 us */
	for (b.interrupt_ns = 1 * US; b.interrupt_ns < 1000 * US; b.interrupt_ns += 7 * US) {
		uint32_t hz = sample_rate__afford(&b);

		assert_in_range(hz, 97, 997);
		assert_true(hz == b.least_hz || share(&b, hz) <= 0.1 * b.limit);
	}
}

static void test_cheap(void **state)
{
	struct sample_budget b = usual();

	b.interrupt_ns = 1500;
	b.program_ns = 3 * US;
	assert_int_equal(sample_rate__afford(&b), 997);
	b.interrupt_ns = b.program_ns = 0; /* nothing is known to be dear */
	assert_int_equal(sample_rate__afford(&b), 997);
}

/* Each CPU has a clock of its own, which also wakes those that are idle. */
static void test_many_cpus(void **state)
{
	struct sample_budget b = usual();

	b.interrupt_ns = 1500;
	b.program_ns = 3 * US;
	b.cpus = 8;
	assert_int_equal(sample_rate__afford(&b), 499);
	b.cpus = 512;
	assert_int_equal(sample_rate__afford(&b), 97);
	b.cpus = 0; /* not known */
	assert_int_equal(sample_rate__afford(&b), 997);
	assert_int_equal(sample_rate__most(97, 2), 997);
	assert_int_equal(sample_rate__most(97, 8), 500);
	assert_int_equal(sample_rate__most(97, 512), 97);
}

/* Where our program alone would take more than a fifth of the limit, all of them are fewer. */
static void test_dear_program(void **state)
{
	struct sample_budget b = usual();

	b.program_ns = 400 * US;
	assert_int_equal(sample_rate__afford(&b), 23); /* of 25 */
	b.limit = 0.0001;
	assert_int_equal(sample_rate__afford(&b), 1);
}

/* With prime rates nothing that comes every 4 or 10 ms is met each time, or never. */
static void test_primes(void **state)
{
	struct sample_budget b = usual();

	for (b.program_ns = 1 * US; b.program_ns < 2000 * US; b.program_ns += 3 * US) {
		uint32_t hz = sample_rate__afford(&b);

		for (uint32_t i = 2; i < hz; i++)
			assert_int_not_equal(hz % i, 0);
	}
}

/* The rate follows what samples turn out to cost, but not each percent of that. */
static void test_next(void **state)
{
	const struct sample_budget b = usual();
	struct samples_cost c = {.ns = 100 * 8 * US, .cnt = 100, .cpu_ns = 400000 * US};

	assert_int_equal(sample_rate__next(251, &b, &c), 251);
	assert_int_equal(sample_rate__next(97, &b, &c), 199);
	assert_int_equal(sample_rate__next(499, &b, &c), 199);
	c.ns = 100 * 60 * US;
	assert_int_equal(sample_rate__next(293, &b, &c), 97);
	c.cnt = 63;
	assert_int_equal(sample_rate__next(293, &b, &c), 293);
	c.cnt = 0;
	assert_int_equal(sample_rate__next(293, &b, &c), 293);
}

static void test_lowered(void **state)
{
	/* 1,000 samples of 20 us in a second: 2 %, of which 1 % is affordable. */
	struct samples_cost c = {.ns = 20000 * US, .cnt = 1000, .cpu_ns = 1000000 * US};

	assert_int_equal(sample_rate__lowered(1000, 0.05, &c), 500);
	assert_int_equal(sample_rate__lowered(1000, 0.1, &c), 1000);
	assert_int_equal(sample_rate__lowered(1000, 0.000001, &c), 1);
	c.cnt = 10;
	assert_int_equal(sample_rate__lowered(1000, 0.05, &c), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tenth),	  cmocka_unit_test(test_cheap),
		cmocka_unit_test(test_many_cpus), cmocka_unit_test(test_dear_program),
		cmocka_unit_test(test_primes),	  cmocka_unit_test(test_next),
		cmocka_unit_test(test_lowered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
