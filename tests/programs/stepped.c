// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stepped: a thread that works without a pause, until the input ends. Each round calls `hot`, whose
 * `ret` is single-stepped if it has a probe (the program maps a library that unwinds), naps now and
 * then, writes a byte, and calls `cold`. For each line of the input it calls `seldom` once behind
 * that, deeper on its stack than the others.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "target.h"

#define EVERY  64 /* rounds from nap to nap */
#define NAP_US 1000

static unsigned long rounds, seldom_cnt, wanted;
static int stop, sink;

void hot(void);

static void spin(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
}

void (*volatile spins)(void) = spin; /* of a callee that is not known */

__asm__(".text\n"
	".globl hot\n"
	".type hot, @function\n"
	"hot:\n"
	"	push	%rbx\n"
	"	call	*spins(%rip)\n"
	"	pop	%rbx\n"
	"	ret\n"
	".size hot, . - hot\n");

TRACED void cold(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
}

TRACED void seldom(volatile char *deep)
{
	deep[0]++;
	seldom_cnt++;
}

/* Not traced, so all that tells `seldom` from a callee of `hot` is that `hot` has left. */
static __attribute__((noinline)) void go_deeper(void)
{
	volatile char deep[256];

	deep[0] = 0;
	seldom(deep);
}

static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		hot();
		if (rounds++ % EVERY == 0)
			usleep(NAP_US);
		if (write(sink, "x", 1) != 1)
			return NULL;
		cold();
		if (seldom_cnt < __atomic_load_n(&wanted, __ATOMIC_RELAXED))
			go_deeper();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[64];

	target_begin(&argc, &argv);
	sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pthread_create(&thread, NULL, work, NULL);
	while (target_read_line(line, sizeof(line))) {
		__atomic_fetch_add(&wanted, 1, __ATOMIC_RELAXED);
		target_say("done");
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	target_count("hot", rounds);
	target_count("cold", rounds);
	target_count("seldom", seldom_cnt);
	return 0;
}
