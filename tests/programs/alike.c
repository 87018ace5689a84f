// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * alike [TIMES]: waits by nanosleep() in four places that have the same instruction and the same
 * stack pointer, two by two, so that return addresses alone tell them apart: those of `near_one`, 3
 * ms, and `near_two`, 1 ms, some words above the stack pointer, those of `far_one`, 3 ms, and
 * `far_two`, 1 ms, 6 KB above it. Prints how long each took by this program's own clock, in ns.
 */
#include <stdlib.h>
#include <time.h>

#include "target.h"

#define MS   1000000
#define ROOM 6000

static void *stack_pointer;

/* Waits for `ns`, and adds to *sum how long that has taken, as the thread is woken late. */
TRACED void nap(unsigned long *sum, long ns)
{
	struct timespec time = {.tv_nsec = ns};
	unsigned long from = target_now_ns();

	stack_pointer = __builtin_frame_address(0);
	while (nanosleep(&time, &time))
		;
	*sum += target_now_ns() - from;
}

/* Puts 6 KB between its caller and what it calls. */
TRACED void far_nap(unsigned long *sum, long ns)
{
	volatile char room[ROOM];

	room[0] = room[ROOM - 1] = 0;
	nap(sum, ns);
	room[0] = room[ROOM - 1];
}

static unsigned long near_one_ns, near_two_ns, far_one_ns, far_two_ns;

TRACED void near_one(void)
{
	nap(&near_one_ns, 3 * MS);
}

TRACED void near_two(void)
{
	nap(&near_two_ns, 1 * MS);
}

TRACED void far_one(void)
{
	far_nap(&far_one_ns, 3 * MS);
}

TRACED void far_two(void)
{
	far_nap(&far_two_ns, 1 * MS);
}

/* Calls one after the other. Ends the program if they had different stack pointers. */
TRACED void both(void (*one)(void), void (*two)(void))
{
	void *before;

	one();
	before = stack_pointer;
	two();
	if (stack_pointer != before)
		exit(1);
}

TRACED void all(void)
{
	both(near_one, near_two);
	both(far_one, far_two);
}

int main(int argc, char **argv)
{
	unsigned long times;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 40);
	for (unsigned long i = 0; i < times; i++)
		all();
	target_count("near_one_ns", near_one_ns);
	target_count("near_two_ns", near_two_ns);
	target_count("far_one_ns", far_one_ns);
	target_count("far_two_ns", far_two_ns);
	return 0;
}
