// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * goes_back [TIMES]: handle() leaves by a jump to finish(), by longjmp() from abandon(), which it
 * calls, or returns by itself. After each the same caller calls recover(), which has the same place
 * on the stack.
 */
#include <setjmp.h>

#include "target.h"

static unsigned long handle_cnt, finish_cnt, abandon_cnt, recover_cnt;
static jmp_buf back;

TRACED long finish(long n)
{
	finish_cnt++;
	for (volatile int i = 0; i < 10; i++)
		;
	return n + 1;
}

TRACED long abandon(long n)
{
	abandon_cnt++;
	if (n >= 0)
		longjmp(back, 1);
	return n;
}

TRACED long handle(long n)
{
	handle_cnt++;
	if (n % 3 == 1)
		n += abandon(n) / 2;
	return n % 3 ? n : finish(n);
}

TRACED long recover(long n)
{
	recover_cnt++;
	for (volatile int i = 0; i < 10; i++)
		;
	return n;
}

int main(int argc, char **argv)
{
	volatile long sum = 0;
	unsigned long times;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 9);
	for (volatile unsigned long i = 0; i < times; i++) {
		if (!setjmp(back))
			sum += handle(i);
		sum += recover(i);
	}
	printf("sum %ld\n", sum);
	target_count("handle", handle_cnt);
	target_count("finish", finish_cnt);
	target_count("abandon", abandon_cnt);
	target_count("recover", recover_cnt);
	return 0;
}
