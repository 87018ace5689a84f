// SPDX-License-Identifier: GPL-2.0-or-later
/* cleanup (-fexceptions): a thread that is cancelled, one that ends inside calls, and one that is
 * cancelled inside libc: the unwinder has to reach the cleanups, which give locks back. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleaned, ready[2];
static FILE *stream;

static void unlock(void *m)
{
	cleaned++;
	pthread_mutex_unlock(m);
}

__attribute__((noipa)) void wait_inside(int depth)
{
	if (depth) {
		wait_inside(depth - 1);
		return;
	}
	if (write(ready[1], "", 1) == 1)
		for (;;)
			pause();
}

__attribute__((noipa)) void end_inside(int depth)
{
	if (depth)
		end_inside(depth - 1);
	else
		pthread_exit((void *)7);
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	wait_inside(3);
	pthread_cleanup_pop(1);
	return arg;
}

static void *ends(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	end_inside(3);
	pthread_cleanup_pop(1);
	return arg;
}

static void *reads(void *arg)
{
	char line[8];

	if (write(ready[1], "", 1) == 1 && fgets(line, sizeof(line), stream))
		puts(line);
	return arg;
}

static void *run(void *(*work)(void *), int cancel)
{
	pthread_t thread;
	void *result;
	char byte;

	pthread_create(&thread, NULL, work, NULL);
	if (cancel && read(ready[0], &byte, 1) == 1)
		pthread_cancel(thread);
	pthread_join(thread, &result);
	return result;
}

int main(void)
{
	int never[2];

	if (pipe(ready) || pipe(never))
		return 1;
	stream = fdopen(never[0], "r");
	printf("cancelled %d", run(waits, 1) == PTHREAD_CANCELED);
	printf(" cleaned %d lock %d\n", cleaned, pthread_mutex_trylock(&lock));
	pthread_mutex_unlock(&lock);
	printf("ended %ld", (long)run(ends, 0));
	printf(" cleaned %d lock %d\n", cleaned, pthread_mutex_trylock(&lock));
	printf("cancelled %d", run(reads, 1) == PTHREAD_CANCELED);
	printf(" stream lock %d\n", ftrylockfile(stream));
	return 0;
}
