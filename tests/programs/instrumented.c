// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * instrumented [TIMES]: functions that begin in different ways, a leaf with values below the stack
 * pointer among them. Built with each kind of entry that a compiler can be told to leave for others
 * to patch.
 */
#include "target.h"

#if defined(__clang__)
#undef TRACED
#define TRACED __attribute__((noinline, optnone))
#endif

static unsigned long leaf_cnt, red_zone_cnt, pushes_cnt, recursive_cnt, outer_cnt;

TRACED unsigned long leaf(unsigned long n)
{
	leaf_cnt++;
	return n * 3 + 1;
}

TRACED unsigned long red_zone(unsigned long n)
{
	volatile unsigned long values[12];

	red_zone_cnt++;
	for (int i = 0; i < 12; i++)
		values[i] = n + i;
	for (int i = 1; i < 12; i++)
		values[i] += values[i - 1];
	return values[11];
}

TRACED unsigned long pushes(unsigned long a, unsigned long b)
{
	unsigned long kept = leaf(a) * b;

	pushes_cnt++;
	return leaf(kept) + red_zone(b) + kept;
}

TRACED unsigned long recursive(unsigned long n)
{
	recursive_cnt++;
	return n ? recursive(n - 1) + n : 0;
}

TRACED unsigned long outer(unsigned long n)
{
	outer_cnt++;
	return pushes(n, n + 1) + recursive(n % 4);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 1000);
	unsigned long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += outer(i);
	printf("sum %lu\n", sum);
	target_count("leaf", leaf_cnt);
	target_count("red_zone", red_zone_cnt);
	target_count("pushes", pushes_cnt);
	target_count("recursive", recursive_cnt);
	target_count("outer", outer_cnt);
	return 0;
}
