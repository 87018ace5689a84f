// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many: 5,000 functions, f_0000 to f_4999. A thread calls all of them, round by round, without a
 * pause; "count" on stdin is answered by "rounds N", "stop" or the end of stdin ends it. Prints
 * whether each function was called once a round; how many rounds there were depends on the time it
 * had.
 */
#include <pthread.h>
#include "target.h"

#define FUNCTIONS 5000

static unsigned long counts[FUNCTIONS], rounds;
static int stop;

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ONE(n)	  TRACED void f_##n(void) { counts[1##n - 10000]++; }
#define NAME(n)	  f_##n,
#define ONES(n)	  TEN(ONE, n)
#define NAMES(n)  TEN(NAME, n)
#define TENS(n)	  TEN_AGAIN(ONES, n)
#define TNAMES(n) TEN_AGAIN(NAMES, n)
/* A macro is not expanded inside itself. */
#define TEN_AGAIN(X, n)                                                                            \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define THOUSAND(X, n)                                                                             \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)

THOUSAND(TENS, 0)
THOUSAND(TENS, 1)
THOUSAND(TENS, 2)
THOUSAND(TENS, 3)
THOUSAND(TENS, 4)

static void (*const functions[FUNCTIONS])(void) = {
	THOUSAND(TNAMES, 0) THOUSAND(TNAMES, 1) THOUSAND(TNAMES, 2) THOUSAND(TNAMES, 3)
		THOUSAND(TNAMES, 4)};

static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < FUNCTIONS; i++)
			functions[i]();
		__atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[64];
	int uneven = 0;

	target_begin(&argc, &argv);
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	while (target_read_line(line, sizeof(line)) && !strcmp(line, "count")) {
		printf("rounds %lu\n", __atomic_load_n(&rounds, __ATOMIC_RELAXED));
		fflush(stdout);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	for (int i = 0; i < FUNCTIONS; i++)
		uneven += counts[i] != rounds;
	printf("uneven %d\n", uneven);
	target_count("f_0000", counts[0]);
	target_count("f_4999", counts[FUNCTIONS - 1]);
	return !!uneven;
}
