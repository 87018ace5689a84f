// SPDX-License-Identifier: GPL-2.0-or-later
/* Shares of paths by few calls, where the truth is known: calls are drawn, one after the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sample/path_share.h"

#define DRAWS  3000
#define FEW    50 /* calls */
#define RARELY 30 /* so few draws tell nothing */

static const double shares[] = {0.01, 0.02, 0.05, 0.1, 0.15, 0.2,  0.3, 0.4,
				0.5,  0.6,  0.7,  0.8, 0.9,  0.95, 0.99};

static uint32_t seed;

/* xorshift: the same draws in each run. */
static uint32_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	return seed ^= seed << 5;
}

/* How many of `of` calls are on a path with that share, where up to `most` calls in a row are on
 * one path. */
static int draw(double share, int of, int most)
{
	int seen = 0;

	for (int left = of; left > 0;) {
		int group = 1 + (int)(next() % (unsigned int)most);

		group = group < left ? group : left;
		if (next() / 4294967296. < share)
			seen += group;
		left -= group;
	}
	return seen;
}

/* The true share is within two errors for nine tenths of the paths that were met at all: others are
 * not shown. */
static void check_groups(int most)
{
	int checked = 0;

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		for (int of = 1; of <= FEW; of++) {
			int met = 0, within = 0;

			for (int k = 0; k < DRAWS; k++) {
				int seen = draw(shares[i], of, most);
				double off = fabs((double)seen / of - shares[i]);

				if (!seen)
					continue;
				met++;
				within += off <= 2 * sqrt(path_share__variance(seen, of));
			}
			if (met < RARELY)
				continue;
			if (within < 0.9 * met)
				print_error("share %g of %d calls: %d of %d\n", shares[i], of,
					    within, met);
			assert_true(within >= 0.9 * met);
			checked++;
		}
	}
	assert_true(checked > 700);
}

static void single_calls(void **state)
{
	check_groups(1);
}

static void calls_in_groups(void **state)
{
	check_groups(4);
}

/* Few calls on the only path that was met say little of it, many say that there is no other. */
static void only_path(void **state)
{
	double before = 1;

	assert_true(sqrt(path_share__variance(1, 1)) > 0.5);
	for (int of = 4; of <= 4096; of *= 2) {
		double error = sqrt(path_share__variance(of, of));

		assert_true(error < before && error > 1. / of);
		before = error;
	}
	assert_true(before < 0.001);
}

/* Many calls tell a share as well as by the binomial distribution of a quarter of them. */
static void many_calls(void **state)
{
	double by_chance = 0.3 * 0.7 * 4 / 100000;

	assert_true(fabs(path_share__variance(30000, 100000) / by_chance - 1) < 0.001);
}

static int reset(void **state)
{
	seed = 2463534242;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(single_calls, reset),
		cmocka_unit_test_setup(calls_in_groups, reset),
		cmocka_unit_test(only_path),
		cmocka_unit_test(many_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
