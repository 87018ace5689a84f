// SPDX-License-Identifier: GPL-2.0-or-later
/* cold [TIMES]: functions that the compiler splits; every third call runs the `.cold` piece. */
#include "target.h"

static unsigned long parse_cnt, check_cnt, complain_cnt;
static volatile long sink;

__attribute__((cold)) TRACED void complain(long n)
{
	complain_cnt++;
	sink += n;
}

TRACED long parse(long n)
{
	parse_cnt++;
	if (__builtin_expect(n % 3 == 0, 0)) {
		complain(n);
		sink++;
		complain(-n);
	}
	return n + sink;
}

TRACED long check(long n)
{
	check_cnt++;
	if (__builtin_expect(n % 3 == 0, 0)) {
		complain(n);
		return -1;
	}
	return parse(n) + parse(n + 1);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += check(i);
	printf("sum %ld\n", sum);
	target_count("parse", parse_cnt);
	target_count("check", check_cnt);
	target_count("complain", complain_cnt);
	return 0;
}
