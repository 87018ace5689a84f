// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profiled [TIMES]: built with -pg, so that each function calls mcount(), which notes where its
 * caller was called from. One is entered by a jump, too. Writes gmon.out.
 */
#include "target.h"

static unsigned long leaf_cnt, middle_cnt, top_cnt, handed_cnt;

TRACED unsigned long leaf(unsigned long n)
{
	leaf_cnt++;
	for (unsigned long i = n; i; i /= 2)
		n += i;
	return n;
}

TRACED unsigned long middle(unsigned long n)
{
	unsigned long sum = 0;

	middle_cnt++;
	for (unsigned long i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}

TRACED unsigned long handed_on(unsigned long n)
{
	handed_cnt++;
	return leaf(n) + 1;
}

/* Not counted itself: its return address is the business of the one that it jumps to. */
__attribute__((noipa, no_instrument_function)) unsigned long hands_on(unsigned long n)
{
	return handed_on(n + 1);
}

TRACED unsigned long top(unsigned long n)
{
	top_cnt++;
	return middle(n) + leaf(3) + hands_on(n);
}

int main(int argc, char **argv)
{
	unsigned long times, sum = 0;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 50);
	for (unsigned long i = 0; i < times; i++)
		sum += top(i % 20);
	printf("%lu\n", sum);
	target_count("leaf", leaf_cnt);
	target_count("middle", middle_cnt);
	target_count("handed_on", handed_cnt);
	target_count("top", top_cnt);
	return 3;
}
