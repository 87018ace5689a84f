// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chain: a thread that calls `chained`, which calls itself until 80 calls are open, again and again
 * until the input ends. For each line meanwhile main answers "done".
 */
#include <pthread.h>
#include "target.h"

enum { LEVELS = 80 };

static unsigned long calls;
static int stop;

TRACED void chained(int level)
{
	calls++;
	if (level < LEVELS)
		chained(level + 1);
	for (volatile int i = 0; i < 4; i++)
		;
}

static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		chained(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[64];

	target_begin(&argc, &argv);
	pthread_create(&thread, NULL, work, NULL);
	while (target_read_line(line, sizeof(line)))
		target_say("done");
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	target_count("chained", calls);
	return 0;
}
