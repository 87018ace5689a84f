// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callers [TIMES]: one function, `called`, is called by many others in all the ways that leave
 * another kind of frame. Prints "PATH function>...>called N" for each way, with the functions of
 * this program alone, from main() or a thread's begin on.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>

#include "target.h"

static unsigned long called_cnt;

TRACED unsigned long called(unsigned long n)
{
	__atomic_fetch_add(&called_cnt, 1, __ATOMIC_RELAXED);
	return n + 1;
}

TRACED unsigned long plain(unsigned long n)
{
	return called(n) + 1;
}

/* A frame that holds more than a byte can tell. */
TRACED unsigned long large(unsigned long n)
{
	volatile char room[5000];

	room[n % sizeof(room)] = 1;
	return plain(n) + room[n % sizeof(room)];
}

/* A frame whose stack pointer is known by the frame pointer alone. */
TRACED unsigned long variable(unsigned long n)
{
	volatile char *room = alloca(n % 100 + 16);

	room[0] = 1;
	return called(n) + room[0];
}

/* A frame that is aligned. */
TRACED unsigned long aligned(unsigned long n)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[n % 64] = 1;
	return called(n) + (unsigned long)room[n % 64];
}

/* Aligned, and of a size that is not known: gcc keeps the frame's address in the frame. */
TRACED unsigned long both(unsigned long n)
{
	volatile char room[64] __attribute__((aligned(64)));
	volatile char *more = alloca(n % 100 + 16);

	room[n % 64] = more[0] = 1;
	return called(n) + (unsigned long)room[n % 64] + more[0];
}

/* Is gone when `called` runs. */
__attribute__((optimize("optimize-sibling-calls"))) TRACED unsigned long jumps(unsigned long n)
{
	return called(n);
}

TRACED unsigned long around_jump(unsigned long n)
{
	return jumps(n) + 1;
}

TRACED unsigned long down(unsigned long n)
{
	return n ? down(n - 1) + 1 : called(n) + 1;
}

TRACED int compare(const void *a, const void *b)
{
	called(1);
	return *(const int *)a - *(const int *)b;
}

/* Sorts two numbers, by one comparison. */
TRACED void sorts(void)
{
	int pair[] = {2, 1};

	qsort(pair, 2, sizeof(pair[0]), compare);
}

TRACED void handler(int signo)
{
	called(signo);
}

TRACED void interrupted(void)
{
	raise(SIGUSR1);
}

static unsigned long times;

TRACED void *thread(void *arg)
{
	for (unsigned long i = 0; i < times; i++)
		plain(i);
	return NULL;
}

#define EACH(CALL)                                        \
	do {                                              \
		for (unsigned long i = 0; i < times; i++) \
			CALL;                             \
	} while (0)

int main(int argc, char **argv)
{
	pthread_t id;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 10);
	signal(SIGUSR1, handler);
	EACH(called(i));
	EACH(plain(i));
	EACH(large(i));
	EACH(variable(i));
	EACH(aligned(i));
	EACH(both(i));
	EACH(around_jump(i));
	EACH(down(3));
	EACH(sorts());
	EACH(interrupted());
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	printf("PATH main>called %lu\n", times);
	printf("PATH main>plain>called %lu\n", times);
	printf("PATH main>large>plain>called %lu\n", times);
	printf("PATH main>variable>called %lu\n", times);
	printf("PATH main>aligned>called %lu\n", times);
	printf("PATH main>both>called %lu\n", times);
	printf("PATH main>around_jump>called %lu\n", times);
	printf("PATH main>down>down>down>down>called %lu\n", times);
	printf("PATH main>sorts>compare>called %lu\n", times);
	printf("PATH main>interrupted>handler>called %lu\n", times);
	printf("PATH thread>plain>called %lu\n", times);
	target_count("called", called_cnt);
	return 0;
}
