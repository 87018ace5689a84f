// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cooling: a thread that calls `batch`, which calls `item` and `part` (from `item`), as fast as it
 * can, until a line says "cool": then it runs `spin` instead, for a millisecond each. "hot" is the
 * way back. "call N" has main call `batch` N times. Each line is answered by "done".
 */
#include <pthread.h>
#include <time.h>
#include "target.h"

static unsigned long batches, items, spins;
static int hot = 1, stop;

TRACED void part(void)
{
	for (volatile int i = 0; i < 20; i++)
		;
}

TRACED void item(void)
{
	part();
	part();
}

TRACED void batch(unsigned long *cnt)
{
	++*cnt;
	item();
	item();
	item();
}

TRACED void spin(void)
{
	struct timespec now, until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 1000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - until.tv_sec) * 1000000000 + now.tv_nsec - until.tv_nsec < 0);
	spins++;
}

static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&hot, __ATOMIC_RELAXED))
			batch(&batches);
		else
			spin();
	}
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long called = 0;
	pthread_t thread;
	char line[64];

	target_begin(&argc, &argv);
	pthread_create(&thread, NULL, work, NULL);
	while (target_read_line(line, sizeof(line))) {
		if (!strncmp(line, "call ", 5)) {
			for (unsigned long n = strtoul(line + 5, NULL, 10); n; n--)
				batch(&called);
		} else {
			__atomic_store_n(&hot, !strncmp(line, "hot", 3), __ATOMIC_RELAXED);
		}
		target_say("done");
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	items = 3 * (batches + called);
	target_count("batch", batches + called);
	target_count("item", items);
	target_count("part", 2 * items);
	target_count("spin", spins);
	return 0;
}
