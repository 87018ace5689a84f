// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waiting [TIMES [THREADS]]: waits in known places. `outer` has all of its own in functions that it
 * calls, which wait for 6 ms by nanosleep(), and for 2 ms by read(); both by way of `nap` or
 * `hear`, as does `alone`, 4 ms, which nobody of interest calls. Prints how long each of the three
 * took by this program's own clock, in ns, and how often `outer` was called.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

#define MS 1000000

static unsigned long times, sleeper_ns, reader_ns, alone_ns;

/* Waits for `ns`, and adds to *sum how long that has taken, as the thread is woken late. */
TRACED void nap(unsigned long *sum, long ns)
{
	struct timespec time = {.tv_nsec = ns};
	unsigned long from = target_now_ns();

	while (nanosleep(&time, &time))
		;
	__atomic_fetch_add(sum, target_now_ns() - from, __ATOMIC_RELAXED);
}

TRACED void hear(unsigned long *sum, int timer, long ns)
{
	struct itimerspec time = {.it_value.tv_nsec = ns};
	unsigned long from, expired;

	timerfd_settime(timer, 0, &time, NULL);
	from = target_now_ns();
	if (read(timer, &expired, sizeof(expired)) != sizeof(expired))
		exit(1);
	__atomic_fetch_add(sum, target_now_ns() - from, __ATOMIC_RELAXED);
}

TRACED void sleeper(void)
{
	nap(&sleeper_ns, 6 * MS);
}

TRACED void reader(int timer)
{
	hear(&reader_ns, timer, 2 * MS);
}

TRACED void outer(int timer)
{
	sleeper();
	reader(timer);
}

TRACED void alone(void)
{
	nap(&alone_ns, 4 * MS);
}

TRACED void *thread(void *arg)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);

	for (unsigned long i = 0; i < times; i++) {
		outer(timer);
		alone();
	}
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long cnt;
	pthread_t *ids;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 100);
	cnt = target_arg(argc, argv, 2, 1);
	ids = calloc(cnt, sizeof(*ids));
	for (unsigned long i = 0; i < cnt; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (unsigned long i = 0; i < cnt; i++)
		pthread_join(ids[i], NULL);
	target_count("sleeper_ns", sleeper_ns);
	target_count("reader_ns", reader_ns);
	target_count("alone_ns", alone_ns);
	target_count("outer", times * cnt);
	return 0;
}
