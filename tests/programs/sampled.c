// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sampled [TIMES]: CPU time in known places. `outer` has all of its own in functions that it calls,
 * three quarters in one and a quarter in the other; `reader` in the kernel; and a thread calls
 * neither. Prints how often `outer` and `reader` were called.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "target.h"

#define ROUNDS 100000
#define BYTES  (1 << 20)

static unsigned long times;

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
	for (unsigned long i = 0; i < 2 * times; i++)
		alone();
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
		/* No clock keeps step with that. */
		outer(ROUNDS / 2 + i * 7919 % ROUNDS);
		for (int k = 0; k < 4; k++)
			reader(zeros, room);
	}
	pthread_join(id, NULL);
	target_count("outer", times);
	target_count("reader", 4 * times);
	return 0;
}
