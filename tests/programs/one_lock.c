// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * one_lock THREADS: all of them wait for one lock, in `take`, which the main thread keeps until
 * they do, in `gather`. Prints how many threads there were.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "target.h"

#define STACK_BYTES 32768
#define WAIT_US	    300000 /* until the last thread is in the kernel */

static pthread_mutex_t crowded_lock = PTHREAD_MUTEX_INITIALIZER;
static long taken;
static sem_t begun;

TRACED void take(void)
{
	pthread_mutex_lock(&crowded_lock);
	taken++;
	pthread_mutex_unlock(&crowded_lock);
}

static void *run(void *ctx)
{
	sem_post(&begun);
	take();
	return ctx;
}

TRACED int gather(pthread_t *threads, int cnt)
{
	pthread_attr_t small;
	int made = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	pthread_mutex_lock(&crowded_lock);
	while (made < cnt && !pthread_create(&threads[made], &small, run, NULL))
		made++;
	for (int i = 0; i < made; i++)
		sem_wait(&begun);
	usleep(WAIT_US);
	pthread_mutex_unlock(&crowded_lock);
	return made;
}

int main(int argc, char **argv)
{
	int cnt = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t *threads = calloc(cnt, sizeof(*threads));
	int made;

	sem_init(&begun, 0, 0);
	made = gather(threads, cnt);
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	printf("THREADS %d\n", made);
	return taken == made ? 0 : 1;
}
