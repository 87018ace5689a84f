// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * busy THREADS: threads that call all functions below, round by round and without a pause, until a
 * line comes or the input ends: 50 plain ones, each of which calls `inner`; `hop`, which is a jump
 * to `land` and nothing else; and `spin`, which goes on as itself in the same stack slot.
 */
#include <pthread.h>
#include "target.h"

#define PLAIN 50

enum { INNER = PLAIN, HOP, LAND, SPIN, COUNTS };

static __thread unsigned long counts[COUNTS];
static unsigned long sums[COUNTS];
static int stop;

TRACED void inner(void)
{
	counts[INNER]++;
}

TRACED void land(void)
{
	counts[LAND]++;
}

TRACED void hop(void);
__asm__(".text\n.globl hop\n.type hop, @function\nhop: jmp land\n.size hop, . - hop\n");

TRACED void spun(void)
{
	counts[SPIN]++;
	inner();
}

TRACED void spin(int left);
__asm__(".text\n.globl spin\n.type spin, @function\n"
	"spin: push %rbx\nmov %edi, %ebx\ncall spun\nmov %ebx, %edi\npop %rbx\n"
	"dec %edi\njns spin\nret\n.size spin, . - spin\n");

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ALL(X)	  TEN(X, 0) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4)
#define PLAIN_ONE(n)                  \
	TRACED int f_##n(void)        \
	{                             \
		counts[1##n - 100]++; \
		inner();              \
		return 1##n;          \
	}
#define CALL(n) f_##n();

ALL(PLAIN_ONE)

static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		ALL(CALL)
		hop();
		counts[HOP]++;
		spin(3);
	}
	for (int i = 0; i < COUNTS; i++)
		__atomic_add_fetch(&sums[i], counts[i], __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	unsigned long cnt;
	char line[64], name[8];

	target_begin(&argc, &argv);
	cnt = target_arg(argc, argv, 1, 4);
	for (unsigned long i = 0; i < cnt && i < 64; i++) {
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	}
	target_say("working");
	target_read_line(line, sizeof(line));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned long i = 0; i < cnt && i < 64; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PLAIN; i++) {
		snprintf(name, sizeof(name), "f_%02d", i);
		target_count(name, sums[i]);
	}
	target_count("inner", sums[INNER]);
	target_count("hop", sums[HOP]);
	target_count("land", sums[LAND]);
	target_count("spin", sums[SPIN]);
	target_count("spun", sums[SPIN]);
	return 0;
}
