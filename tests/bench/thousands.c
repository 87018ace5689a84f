// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * thousands [THREADS]: ten thousand functions, f_0 to f_9999, called one after the other as fast as
 * it goes, each tenth by the one before it. Prints "ready", waits for a line on stdin, and goes on
 * until stdin ends. Then "CALLS N", all calls of all threads together.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FUNCTIONS = 10000, MAX_THREADS = 64 };

typedef unsigned long thousand_fn(unsigned long number, unsigned long x);

extern thousand_fn *const table[FUNCTIONS]; /* thousands.S */
static int stop;

/* The work of all functions: more than a tiny leaf does. */
__attribute__((noipa)) unsigned long body(unsigned long number, unsigned long x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ number) * 1442695040888963407ul;
	if (number % 10 == 8)
		x = table[number + 1](number + 1, x);
	return x;
}

static void *run(void *arg)
{
	unsigned long *calls = arg, x = 1;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (unsigned long i = 0; i < FUNCTIONS; i++) {
			if (i % 10 != 9)
				x = table[i](i, x);
		}
		*calls += FUNCTIONS;
	}
	return (void *)x;
}

int main(int argc, char **argv)
{
	unsigned long threads_cnt = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, calls = 0;
	static unsigned long counts[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	char c;

	if (!threads_cnt || threads_cnt > MAX_THREADS)
		return 2;
	printf("ready\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 0;
	for (unsigned long i = 0; i < threads_cnt; i++)
		pthread_create(&threads[i], NULL, run, &counts[i]);
	while (read(STDIN_FILENO, &c, 1) == 1)
		;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned long i = 0; i < threads_cnt; i++) {
		pthread_join(threads[i], NULL);
		calls += counts[i];
	}
	printf("CALLS %lu\n", calls);
	return 0;
}
