// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of PROFTRACE_REGION() while nobody traces: the same function with and without it, the
 * best of many rounds that take turns. Prints "plain NS" and "named NS", of one call.
 */
#include <stdio.h>
#include <time.h>

#include "proftrace.h"

#define ROUNDS 200
#define CALLS  100000

#define WORK                                 \
	for (unsigned int i = 0; i < 4; i++) \
		x = x * 1664525 + 1013904223;

static __attribute__((noinline)) unsigned int plain(unsigned int x)
{
	WORK return x;
}

static __attribute__((noinline)) unsigned int named(unsigned int x)
{
	PROFTRACE_REGION("named");

	WORK return x;
}

static double measure(unsigned int (*call)(unsigned int), volatile unsigned int *sink)
{
	struct timespec from, to;
	unsigned int x = *sink;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < CALLS; i++)
		x = call(x);
	clock_gettime(CLOCK_MONOTONIC, &to);
	*sink = x;
	return ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / CALLS;
}

int main(void)
{
	double best[2] = {1e9, 1e9};
	volatile unsigned int sink = 1;

	for (int i = 0; i < ROUNDS; i++) {
		double a = measure(plain, &sink), b = measure(named, &sink);

		best[0] = a < best[0] ? a : best[0];
		best[1] = b < best[1] ? b : best[1];
	}
	printf("plain %.3f\nnamed %.3f\n", best[0], best[1]);
	return 0;
}
