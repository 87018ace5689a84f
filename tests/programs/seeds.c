// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * seeds TIMES: threads that are within calls when tracing begins. One sleeps DEPTH calls deep in
 * `descend` and calls `leaf` from each level on its way up, then once by another way; the other one
 * sleeps at its begin, and then serves TIMES requests, by one way and another.
 */
#include <pthread.h>
#include <semaphore.h>

#include "target.h"

#define DEPTH 5

static sem_t wake, ready;
static unsigned long handle_cnt, leaf_cnt, shallow_cnt;

TRACED unsigned long handle(unsigned long n)
{
	handle_cnt++;
	return n + 1;
}

/* Both functions make as many calls, and their frames lie at the same place. */
TRACED unsigned long by_odd(unsigned long n)
{
	return handle(n) + 1;
}

TRACED unsigned long by_even(unsigned long n)
{
	return handle(n) + 2;
}

static unsigned long (*const ways[])(unsigned long) = {by_odd, by_even};

TRACED unsigned long serve(unsigned long times)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += ways[i % 2](i);
	return sum;
}

TRACED unsigned long leaf(unsigned long n)
{
	leaf_cnt++;
	return n + 1;
}

/* Sleeps at the bottom; then each level calls `leaf` on the way up. */
TRACED unsigned long descend(unsigned long level)
{
	unsigned long n = level;

	if (level < DEPTH) {
		n += descend(level + 1);
	} else {
		sem_post(&ready);
		sem_wait(&wake);
	}
	return n + leaf(n);
}

TRACED unsigned long shallow(unsigned long n)
{
	shallow_cnt++;
	return leaf(n) + 1;
}

static void *descender(void *arg)
{
	unsigned long n = descend(1);

	return (void *)(shallow((unsigned long)arg) + n);
}

static void *server(void *arg)
{
	sem_post(&ready);
	sem_wait(&wake);
	return (void *)(serve((unsigned long)arg) + 1);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned long times = strtoul(argv[argc - 1], NULL, 0);

	sem_init(&wake, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_create(&threads[0], NULL, descender, (void *)times);
	pthread_create(&threads[1], NULL, server, (void *)times);
	sem_wait(&ready);
	sem_wait(&ready);
	target_begin(&argc, &argv);
	sem_post(&wake);
	sem_post(&wake);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	target_count("handle", handle_cnt);
	target_count("leaf", leaf_cnt);
	target_count("shallow", shallow_cnt);
	return 0;
}
