// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sampled [TIMES]: CPU time in known places. `outer` has all of its own in functions that it calls,
 * three quarters in one and a quarter in the other; `reader` in the kernel; and a thread calls
 * neither. Prints how often `outer` and `reader` were called, and the CPU time in us that its calls
 * of `outer` and of `alone` have had, by the threads' own clocks, as "CPU outer 230000".
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "target.h"

#define ROUNDS 100000
#define BYTES  (1 << 20)

static unsigned long times, outer_ns, alone_ns;

/* In registers alone: how long memory takes depends on where it is. */
static inline void work(unsigned long rounds)
{
	unsigned long product = 1;

	for (unsigned long i = 0; i < rounds; i++) {
		product *= 3;
		__asm__ volatile("" : "+r"(product));
	}
}

TRACED void much(unsigned long rounds)
{
	work(rounds);
}

TRACED void little(unsigned long rounds)
{
	work(rounds);
}

TRACED void middle(unsigned long rounds)
{
	much(3 * rounds);
	little(rounds);
}

TRACED void outer(unsigned long rounds)
{
	middle(rounds);
}

TRACED void reader(int zeros, char *room)
{
	if (read(zeros, room, BYTES) != BYTES)
		exit(1);
}

TRACED void alone(void)
{
	much(ROUNDS);
}

TRACED void *thread(void *arg)
{
	unsigned long began = target_cpu_ns();

	for (unsigned long i = 0; i < 2 * times; i++)
		alone();
	alone_ns = target_cpu_ns() - began;
	return arg;
}

int main(int argc, char **argv)
{
	int zeros = open("/dev/zero", O_RDONLY);
	char *room = malloc(BYTES);
	pthread_t id;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 1000);
	pthread_create(&id, NULL, thread, NULL);
	for (unsigned long i = 0; i < times; i++) {
		unsigned long began = target_cpu_ns();

		/* No clock keeps step with that. */
		outer(ROUNDS / 2 + i * 7919 % ROUNDS);
		outer_ns += target_cpu_ns() - began;
		for (int k = 0; k < 4; k++)
			reader(zeros, room);
	}
	pthread_join(id, NULL);
	target_count("outer", times);
	target_count("reader", 4 * times);
	printf("CPU outer %lu\nCPU alone %lu\n", outer_ns / 1000, alone_ns / 1000);
	return 0;
}
