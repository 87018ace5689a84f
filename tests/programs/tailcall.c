// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tailcall [TIMES]: built with sibling calls, so that first, second, ping and pong leave by a jump
 * into the next function. `around` calls them in the ordinary way.
 */
#include "target.h"

static unsigned long around_cnt, first_cnt, second_cnt, third_cnt, ping_cnt, pong_cnt;

TRACED int third(int n)
{
	third_cnt++;
	return n + 1;
}

TRACED int second(int n)
{
	second_cnt++;
	return third(n + 1);
}

TRACED int first(int n)
{
	first_cnt++;
	return second(n + 1);
}

TRACED int pong(int n);

TRACED int ping(int n)
{
	ping_cnt++;
	return n ? pong(n - 1) : 0;
}

TRACED int pong(int n)
{
	pong_cnt++;
	return n ? ping(n - 1) : 1;
}

TRACED int around(int n)
{
	around_cnt++;
	return first(n) + ping(100) + third(n);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += around(i);
	printf("sum %ld\n", sum);
	target_count("around", around_cnt);
	target_count("first", first_cnt);
	target_count("second", second_cnt);
	target_count("third", third_cnt);
	target_count("ping", ping_cnt);
	target_count("pong", pong_cnt);
	return 0;
}
