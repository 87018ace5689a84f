// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stack_copies [TIMES [loop]]: goes back TIMES times to calls that have returned, by a copy of the
 * stack which it puts back (`loop`: word by word), and longjmp.
 */
#include <alloca.h>
#include <setjmp.h>
#include "target.h"

enum { BELOW = 256, ROOM = 8192 };

static unsigned long *top, *bottom, *copy;
static size_t words;
static jmp_buf place;
static unsigned long back_cnt, times, inner_cnt, outer_cnt;
static int by_loop;

TRACED int keep_stack(void)
{
	unsigned long here;

	bottom = &here - BELOW / sizeof(here);
	words = top - bottom;
	copy = malloc(words * sizeof(*copy));
	if (setjmp(place))
		return 1;
	memcpy(copy, bottom, words * sizeof(*copy));
	return 0;
}

/* Below what they overwrite. */
static __attribute__((noinline, noreturn)) void put_back(void)
{
	memcpy(bottom, copy, words * sizeof(*copy));
	longjmp(place, 1);
}

static __attribute__((noinline, noreturn)) void put_back_by_words(void)
{
	volatile unsigned long *to = bottom, *from = copy;

	for (size_t i = 0; i < words; i++)
		to[i] = from[i];
	longjmp(place, 1);
}

TRACED void go_back(void)
{
	volatile char *room = alloca(ROOM);

	room[0] = 1;
	if (by_loop)
		put_back_by_words();
	put_back();
}

TRACED int inner(int n)
{
	int back = keep_stack();

	inner_cnt++;
	return n * 10 + back;
}

TRACED int outer(int n)
{
	int got = inner(n + 1);

	outer_cnt++;
	return got + 1;
}

int main(int argc, char **argv)
{
	unsigned long here;
	int got;

	target_begin(&argc, &argv);
	top = &here + 32;
	times = target_arg(argc, argv, 1, 20);
	by_loop = argc > 2;
	got = outer(4);
	printf("%d\n", got);
	fflush(stdout);
	if (back_cnt++ < times)
		go_back();
	printf("back %lu, inner %lu, outer %lu\n", back_cnt, inner_cnt, outer_cnt);
	return 5;
}
