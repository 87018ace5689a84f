// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calc [TIMES [STATUS]]: a plain program, built in many ways: PIE, at a fixed address, static,
 * stripped, with separate debug information. Exits with STATUS.
 */
#include "target.h"

unsigned long square_cnt, cube_cnt, apply_cnt;

TRACED long square(long n)
{
	square_cnt++;
	return n * n;
}

TRACED long cube(long n)
{
	cube_cnt++;
	return square(n) * n;
}

TRACED long apply(long (*function)(long), long n)
{
	apply_cnt++;
	return function(n) + 1;
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += apply(i % 2 ? square : cube, i);
	printf("sum %ld\n", sum);
	target_count("square", square_cnt);
	target_count("cube", cube_cnt);
	target_count("apply", apply_cnt);
	return target_arg(argc, argv, 2, 0);
}
