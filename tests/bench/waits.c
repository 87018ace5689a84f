// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waits [TIMES [MS [SPINNERS]]]: functions that use their time differently, MS milliseconds a call,
 * TIMES calls. sleeps() sleeps, locks() waits for a mutex that another thread holds, reads() for
 * what another thread writes late, mixes() computes and has sleeps_within() sleep, spins() computes
 * in SPINNERS threads at once, which have to share CPUs if they are enough. Prints "ready" and
 * waits for a line on stdin. At the end a line a function: "SPLIT NAME WALL CPU", in ns, what the
 * function's thread measured of all calls between the function's first statement and its last.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TRACED __attribute__((noipa))

struct clocks {
	unsigned long wall, cpu;
};

enum { SLEEPS, LOCKS, READS, MIXES, SLEEPS_WITHIN, SPINS, KINDS, MAX_SPINNERS = 64 };

static const char *const names[KINDS] = {"sleeps", "locks",	    "reads",
					 "mixes",  "sleeps_within", "spins"};
static struct clocks spent[KINDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long times = 20, ns = 20000000;
static int orders[2], answers[2], held[2]; /* pipes */

static inline __attribute__((always_inline)) unsigned long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ul + ts.tv_nsec;
}

static inline __attribute__((always_inline)) struct clocks now(void)
{
	return (struct clocks){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

/* Other threads may add at the same time. */
static inline __attribute__((always_inline)) void spend(int kind, struct clocks since)
{
	struct clocks t = now();

	__atomic_add_fetch(&spent[kind].wall, t.wall - since.wall, __ATOMIC_RELAXED);
	__atomic_add_fetch(&spent[kind].cpu, t.cpu - since.cpu, __ATOMIC_RELAXED);
}

static void sleep_ns(unsigned long duration)
{
	struct timespec ts = {duration / 1000000000, duration % 1000000000};

	nanosleep(&ts, NULL);
}

static inline __attribute__((always_inline)) void spin_ns(unsigned long duration)
{
	unsigned long start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < duration)
		;
}

static void expect(int done)
{
	if (!done) {
		perror("waits");
		exit(1);
	}
}

TRACED void sleeps(void)
{
	struct clocks start = now();

	sleep_ns(ns);
	spend(SLEEPS, start);
}

TRACED void locks(void)
{
	struct clocks start = now();

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	spend(LOCKS, start);
}

TRACED void reads(void)
{
	struct clocks start = now();
	char c;

	expect(read(answers[0], &c, 1) == 1);
	spend(READS, start);
}

TRACED void sleeps_within(void)
{
	struct clocks start = now();

	sleep_ns(ns / 4);
	spend(SLEEPS_WITHIN, start);
}

TRACED void mixes(void)
{
	struct clocks start = now();

	spin_ns(ns / 4);
	sleeps_within();
	sleep_ns(ns / 4);
	spin_ns(ns / 4);
	spend(MIXES, start);
}

TRACED void spins(void)
{
	struct clocks start = now();

	spin_ns(ns);
	spend(SPINS, start);
}

/* Does what it is told to by the other thread: holds the mutex for a while, or writes late. */
static void *help(void *arg)
{
	char order;

	while (read(orders[0], &order, 1) == 1) {
		if (order == 'l') {
			pthread_mutex_lock(&mutex);
			expect(write(held[1], &order, 1) == 1);
			sleep_ns(ns);
			pthread_mutex_unlock(&mutex);
		} else {
			sleep_ns(ns);
			expect(write(answers[1], &order, 1) == 1);
		}
	}
	return NULL;
}

static void *run_spinner(void *arg)
{
	for (unsigned long i = 0; i < times; i++)
		spins();
	return NULL;
}

static void run_waiters(void)
{
	pthread_t helper;
	char c;

	expect(!pipe(orders) && !pipe(answers) && !pipe(held));
	expect(!pthread_create(&helper, NULL, help, NULL));
	for (unsigned long i = 0; i < times; i++) {
		sleeps();
		expect(write(orders[1], "l", 1) == 1 && read(held[0], &c, 1) == 1);
		locks();
		expect(write(orders[1], "r", 1) == 1);
		reads();
		mixes();
	}
	close(orders[1]);
	pthread_join(helper, NULL);
}

int main(int argc, char **argv)
{
	unsigned long spinners = argc > 3 ? strtoul(argv[3], NULL, 10) : 3;
	pthread_t threads[MAX_SPINNERS];
	char c;

	times = argc > 1 ? strtoul(argv[1], NULL, 10) : times;
	ns = argc > 2 ? strtoul(argv[2], NULL, 10) * 1000000 : ns;
	if (!times || !ns || spinners > MAX_SPINNERS) {
		fprintf(stderr, "usage: waits [TIMES [MS [SPINNERS]]], at most 64 of these\n");
		return 2;
	}
	printf("ready\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 0;
	run_waiters();
	for (unsigned long i = 0; i < spinners; i++)
		expect(!pthread_create(&threads[i], NULL, run_spinner, NULL));
	for (unsigned long i = 0; i < spinners; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < KINDS; i++)
		printf("SPLIT %s %lu %lu\n", names[i], spent[i].wall, spent[i].cpu);
	return 0;
}
