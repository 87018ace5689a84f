// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * goes_on [TIMES]: handle() leaves by jumps to finish(), to deny(), which throws, to pass(), which
 * jumps to finish(), through a pointer to away(), to refuse(), which throws or jumps to recover();
 * or returns by itself. After each the same caller calls recover(), which has the same place on the
 * stack.
 */
#include "target.h"

static unsigned long handle_cnt, finish_cnt, deny_cnt, pass_cnt, away_cnt, recover_cnt, refuse_cnt;

TRACED int finish(int n)
{
	finish_cnt++;
	for (volatile int i = 0; i < 10; i++)
		;
	return n + 1;
}

TRACED int deny(int n)
{
	deny_cnt++;
	throw n;
}

TRACED int pass(int n)
{
	pass_cnt++;
	return finish(n + 1);
}

TRACED int away(int n)
{
	away_cnt++;
	for (volatile int i = 0; i < 10; i++)
		;
	return n + 2;
}

static int (*volatile pointer)(int) = away;

TRACED int recover(int n)
{
	recover_cnt++;
	for (volatile int i = 0; i < 10; i++)
		;
	return n;
}

TRACED int refuse(int n)
{
	refuse_cnt++;
	if (n & 1)
		throw n;
	return recover(n);
}

TRACED int handle(int n)
{
	handle_cnt++;
	switch (n % 6) {
	case 0:
		return finish(n);
	case 1:
		return deny(n);
	case 2:
		return pass(n);
	case 3:
		return pointer(n);
	case 4:
		return refuse(n / 6);
	default:
		return n;
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	long sum = 0;

	for (unsigned long i = 0; i < times; i++) {
		try {
			sum += handle(i);
		} catch (int n) {
			sum += n;
		}
		sum += recover(i);
	}
	printf("sum %ld\n", sum);
	target_count("handle(int)", handle_cnt);
	target_count("finish(int)", finish_cnt);
	target_count("deny(int)", deny_cnt);
	target_count("pass(int)", pass_cnt);
	target_count("away(int)", away_cnt);
	target_count("refuse(int)", refuse_cnt);
	target_count("recover(int)", recover_cnt);
	return 0;
}
