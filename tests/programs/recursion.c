// SPDX-License-Identifier: GPL-2.0-or-later
/* recursion [DEPTH [TIMES]]: direct and mutual recursion to a depth, and a tree of calls. */
#include "target.h"

static unsigned long direct_cnt, even_cnt, odd_cnt, fib_cnt;

TRACED unsigned long direct(unsigned long n)
{
	direct_cnt++;
	return n > 1 ? direct(n - 1) + 1 : 1;
}

TRACED int odd(unsigned long n);

TRACED int even(unsigned long n)
{
	even_cnt++;
	return n ? odd(n - 1) : 1;
}

TRACED int odd(unsigned long n)
{
	odd_cnt++;
	return n ? even(n - 1) : 0;
}

TRACED unsigned long fib(unsigned long n)
{
	fib_cnt++;
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long depth = target_arg(argc, argv, 1, 10);
	unsigned long times = target_arg(argc, argv, 2, 3);
	unsigned long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += direct(depth) + even(depth) + fib(10);
	printf("sum %lu\n", sum);
	target_count("direct", direct_cnt);
	target_count("even", even_cnt);
	target_count("odd", odd_cnt);
	target_count("fib", fib_cnt);
	return 0;
}
