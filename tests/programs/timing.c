// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timing [MS [TIMES]]: `sleeper` sleeps and `spinner` spins, MS milliseconds a call. What a call
 * took is bounded from both sides: "INSIDE name NS", measured by the function, and "OUTSIDE name
 * NS", measured by its caller.
 */
#include <time.h>
#include "target.h"

static unsigned long sleeper_cnt, spinner_cnt;
static unsigned long sleeper_inside, spinner_inside, sleeper_outside, spinner_outside;

static inline __attribute__((always_inline)) unsigned long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ul + t.tv_nsec;
}

TRACED void sleeper(unsigned long ns)
{
	unsigned long start = now_ns();
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	sleeper_cnt++;
	nanosleep(&t, NULL);
	sleeper_inside += now_ns() - start;
}

TRACED void spinner(unsigned long ns)
{
	unsigned long start = now_ns();

	spinner_cnt++;
	while (now_ns() - start < ns)
		;
	spinner_inside += now_ns() - start;
}

TRACED void both(unsigned long ns)
{
	unsigned long start = now_ns(), middle;

	sleeper(ns);
	middle = now_ns();
	spinner(ns);
	spinner_outside += now_ns() - middle;
	sleeper_outside += middle - start;
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long ns = target_arg(argc, argv, 1, 20) * 1000000;
	unsigned long times = target_arg(argc, argv, 2, 5);

	for (unsigned long i = 0; i < times; i++)
		both(ns);
	printf("INSIDE sleeper %lu\n", sleeper_inside);
	printf("OUTSIDE sleeper %lu\n", sleeper_outside);
	printf("INSIDE spinner %lu\n", spinner_inside);
	printf("OUTSIDE spinner %lu\n", spinner_outside);
	target_count("sleeper", sleeper_cnt);
	target_count("spinner", spinner_cnt);
	target_count("both", times);
	return 0;
}
