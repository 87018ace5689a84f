// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * aliases [TIMES]: two names at one address, which are one function, and an indirect function,
 * whose own address is its resolver's: only what it resolves to is called.
 */
#include "target.h"

static unsigned long original_cnt, pick_fast_cnt, pick_slow_cnt;

TRACED long original(long n)
{
	original_cnt++;
	return n + 1;
}

long twin(long n) __attribute__((alias("original")));

static TRACED long pick_fast(long n)
{
	pick_fast_cnt++;
	return n * 2;
}

static TRACED long pick_slow(long n)
{
	pick_slow_cnt++;
	return n + n;
}

static long (*resolve_pick(void))(long)
{
	return pick_fast;
}

long pick(long n) __attribute__((ifunc("resolve_pick")));

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += original(i) + twin(i) + pick(i);
	if (!times)
		sum = pick_slow(sum);
	printf("sum %ld\n", sum);
	target_count("original|twin", original_cnt);
	target_count("pick_fast", pick_fast_cnt);
	target_count("pick_slow", pick_slow_cnt);
	return 0;
}
