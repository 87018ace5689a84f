// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions with values: requests of three kinds, each with as many steps as its kind says and one
 * more, by three threads. "COUNT request(arg2=KIND) N" is how many there were, "STEPS KIND N" how
 * many steps they had, in all.
 */
#include "target.h"

#include <pthread.h>

#include "proftrace.h"

#define THREADS	 3
#define KINDS	 3
#define REQUESTS 50

static unsigned long requests[KINDS], steps[KINDS];

TRACED void step(int kind, int number, const char *text)
{
	PROFTRACE_REGION_VALUES("step", number, text);
	__atomic_add_fetch(&steps[kind], 1, __ATOMIC_RELAXED);
}

TRACED void request(long id, int kind)
{
	PROFTRACE_REGION_VALUES("request", id, kind);

	__atomic_add_fetch(&requests[kind], 1, __ATOMIC_RELAXED);
	for (int i = 0; i <= kind; i++)
		step(kind, i, "text");
}

static void *run(void *arg)
{
	long thread = (long)arg;

	for (long i = 0; i < REQUESTS; i++)
		request(thread * REQUESTS + i, i * 7 % KINDS);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	target_begin(&argc, &argv);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < KINDS; i++) {
		printf("COUNT request(arg2=%d) %lu\n", i, requests[i]);
		printf("STEPS %d %lu\n", i, steps[i]);
	}
	target_end();
	return 0;
}
