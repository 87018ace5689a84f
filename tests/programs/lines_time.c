// SPDX-License-Identifier: GPL-2.0-or-later
/* Two lines that know how long they took: doze(5) sleeps, slow() works. Prints "TIME doze NS" and
 * "TIME slow NS". Takes the number of rounds. */
#include <time.h>
#include "target.h"

static unsigned long long took[2];
static volatile unsigned long work_done;

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void slow(void)
{
	for (int i = 0; i < 2000000; i++)
		work_done = work_done + 1;
}

static void doze(int ms)
{
	struct timespec ts = {0, ms * 1000000};

	nanosleep(&ts, NULL);
}

TRACED void timed(int rounds)
{
	unsigned long long begin, end;

	for (int i = 0; i < rounds; i++) {
		begin = now();
		doze(5);
		end = now();
		took[0] += end - begin;
		begin = now();
		slow();
		end = now();
		took[1] += end - begin;
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	timed(target_arg(argc, argv, 1, 10));
	printf("TIME doze %llu\nTIME slow %llu\n", took[0], took[1]);
	return 0;
}
