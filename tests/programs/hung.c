/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hung [MORE]: a process that hangs. Its threads wait in one call each, and do nothing else:
 *
 *   hung       for `gives` to end; each byte on standard input wakes `reads` up once first
 *   takes      has left_lock, wants right_lock
 *   gives      has right_lock, wants left_lock
 *   reads      reads from a pipe into which nobody writes (but as above)
 *   sleeps     for a day, and so do MORE others
 *
 * The program prints a line when all threads are about to wait, and one for each time that `reads`
 * was woken up. At the end of standard input it goes on waiting.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t right_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_have, all_there;
static int requests[2];
static volatile int handled;

static NOINLINE void want_right(void)
{
	pthread_mutex_lock(&right_lock);
	handled++;
}

static NOINLINE void want_left(void)
{
	pthread_mutex_lock(&left_lock);
	handled++;
}

static NOINLINE int await_request(void)
{
	char byte;
	int got = read(requests[0], &byte, 1);

	handled++;
	return got;
}

static NOINLINE void handle_request(void)
{
	printf("handled %d\n", ++handled);
}

static NOINLINE void doze(void)
{
	const struct timespec day = {.tv_sec = 24 * 3600};

	nanosleep(&day, NULL);
	handled++;
}

static void *takes(void *unused)
{
	pthread_setname_np(pthread_self(), "takes");
	pthread_mutex_lock(&left_lock);
	pthread_barrier_wait(&both_have);
	pthread_barrier_wait(&all_there);
	want_right();
	return unused;
}

static void *gives(void *unused)
{
	pthread_setname_np(pthread_self(), "gives");
	pthread_mutex_lock(&right_lock);
	pthread_barrier_wait(&both_have);
	pthread_barrier_wait(&all_there);
	want_left();
	return unused;
}

static void *reads(void *unused)
{
	pthread_setname_np(pthread_self(), "reads");
	pthread_barrier_wait(&all_there);
	while (await_request() == 1)
		handle_request();
	return unused;
}

static void *sleeps(void *unused)
{
	pthread_setname_np(pthread_self(), "sleeps");
	pthread_barrier_wait(&all_there);
	doze();
	return unused;
}

static void *sleeps_too(void *unused)
{
	doze();
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const runs[])(void *) = {takes, gives, reads, sleeps};
	pthread_t threads[4], other;
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(requests))
		return 1;
	pthread_barrier_init(&both_have, NULL, 2);
	pthread_barrier_init(&all_there, NULL, 5);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, runs[i], NULL);
	for (int more = argc > 1 ? atoi(argv[1]) : 0; more > 0; more--) {
		if (pthread_create(&other, NULL, sleeps_too, NULL))
			return 1;
	}
	pthread_barrier_wait(&all_there);
	printf("hangs\n");
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (write(requests[1], &byte, 1) != 1)
			return 1;
	}
	pthread_join(threads[1], NULL);
	return 0;
}
