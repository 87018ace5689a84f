// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ends idle|together ROUNDS: `work` is called so many times in a thread, which takes a millisecond
 * or so each. With "idle" the process's first thread does that and ends; the one that ends last,
 * and the process with it, has called nothing. With "together" two threads do, and end side by
 * side. Says what CPU time the process has had right before its end: "CPU ns N".
 */
#include <pthread.h>
#include <sys/syscall.h>
#include "target.h"

static pthread_t first;
static unsigned long rounds, calls, worked;
static int told;

TRACED void work(void)
{
	for (volatile int i = 0; i < 500000; i++)
		;
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

static void call_work(void)
{
	for (unsigned long i = 0; i < rounds; i++)
		work();
}

static void tell(void)
{
	struct timespec t;

	target_count("work", calls);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("CPU ns %lu\n", t.tv_sec * 1000000000ul + t.tv_nsec);
	fflush(stdout);
}

/* The end of a thread, without what a library does behind it. */
static void end_thread(void)
{
	syscall(SYS_exit, 0);
}

static void *end_last(void *arg)
{
	pthread_join(first, NULL);
	tell();
	end_thread();
	return arg;
}

/* The second one that comes here tells, then both end. */
static void *end_together(void *arg)
{
	call_work();
	if (__atomic_add_fetch(&worked, 1, __ATOMIC_SEQ_CST) == 2) {
		tell();
		__atomic_store_n(&told, 1, __ATOMIC_SEQ_CST);
	}
	while (!__atomic_load_n(&told, __ATOMIC_SEQ_CST))
		;
	end_thread();
	return arg;
}

int main(int argc, char **argv)
{
	int together = argc > 1 && !strcmp(argv[1], "together");
	pthread_t thread;

	rounds = target_arg(argc, argv, 2, 30);
	first = pthread_self();
	for (int i = 0; i < 1 + together; i++) {
		if (pthread_create(&thread, NULL, together ? end_together : end_last, NULL))
			return 1;
	}
	if (together)
		end_thread();
	call_work();
	pthread_exit(NULL);
}
