// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jump_swaps [TIMES]: coroutines on one stack, which libc's setjmp and longjmp switch between: each
 * has a region of the stack below the one before it. Prints what they have summed up.
 */
#include <setjmp.h>
#include "target.h"

enum { COROUTINES = 4, ROOM = 16384 };

static jmp_buf scheduler, places[COROUTINES];
static int done[COROUTINES], last = -1;
static unsigned long sums[COROUTINES], times;
static unsigned long step_cnt, outer_cnt, work_cnt;

static void give_way(int self)
{
	if (!setjmp(places[self]))
		longjmp(scheduler, 1);
}

TRACED unsigned long step(int self, unsigned long n)
{
	step_cnt++;
	give_way(self);
	sums[self] += n * (self + 1);
	return n;
}

TRACED unsigned long outer(int self, unsigned long n)
{
	unsigned long got = step(self, n);

	outer_cnt++;
	give_way(self);
	return got + 1;
}

TRACED unsigned long work(int self)
{
	unsigned long sum = 0;

	work_cnt++;
	for (unsigned long i = 0; i < times; i++)
		sum += outer(self, i);
	return sum;
}

static __attribute__((noinline)) void start(int self)
{
	unsigned long sum = work(self);

	printf("%d: %lu %lu\n", self, sum, sums[self]);
	done[self] = 1;
	longjmp(scheduler, 1);
}

/* Leaves room for one coroutine, and goes on with the next. */
static __attribute__((noinline)) void make_room(int self)
{
	volatile char room[ROOM];

	memset((char *)room, self, sizeof(room));
	if (self == COROUTINES)
		longjmp(scheduler, 1);
	if (!setjmp(places[self]))
		make_room(self + 1);
	start(self);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 50);
	if (!setjmp(scheduler))
		make_room(0);
	setjmp(scheduler);
	for (int i = 1; i <= COROUTINES; i++) {
		int next = (last + i + COROUTINES) % COROUTINES;

		if (done[next])
			continue;
		last = next;
		longjmp(places[next], 1);
	}
	target_count("step", step_cnt);
	target_count("outer", outer_cnt);
	target_count("work", work_cnt);
	return 3;
}
