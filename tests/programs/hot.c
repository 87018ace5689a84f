// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hot [THREADS]: threads that call `hot` without a pause, from `heat`, until the input ends. For
 * each line meanwhile main calls `rare` as often as it says, and answers "done". With REGIONS all of
 * these have regions of their names.
 */
#include <pthread.h>
#include "target.h"

#ifdef REGIONS
#include "proftrace.h"
#else
#define PROFTRACE_REGION(name)
#define PROFTRACE_MARK(name)
#endif

enum { MAX_THREADS = 16 };

static unsigned long hot_cnt, rare_cnt;
static int stop;

/* No tiny leaf: it has a loop. */
TRACED void hot(unsigned long *count)
{
	for (volatile int i = 0; i < 4; i++)
		;
	++*count;
}

#ifdef REGIONS
#define hot(count)                            \
	do {                                  \
		if (*(count) % 2) {           \
			PROFTRACE_REGION("hot"); \
			hot(count);           \
		} else {                      \
			PROFTRACE_REGION("hot"); \
			hot(count);           \
		}                             \
	} while (0)
#endif

TRACED void rare(void)
{
	PROFTRACE_MARK("rare");
	rare_cnt++;
	target_say("rare");
}

TRACED void *heat(void *arg)
{
	unsigned long count = 0;
	PROFTRACE_REGION("heat");

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		hot(&count);
	__atomic_add_fetch(&hot_cnt, count, __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long threads_cnt, times;
	pthread_t threads[MAX_THREADS];
	char line[64];

	target_begin(&argc, &argv);
	threads_cnt = target_arg(argc, argv, 1, 1);
	if (threads_cnt > MAX_THREADS)
		return 2;
	for (unsigned long i = 0; i < threads_cnt; i++)
		pthread_create(&threads[i], NULL, heat, NULL);
	while (target_read_line(line, sizeof(line))) {
		for (times = strtoul(line, NULL, 10); times; times--)
			rare();
		target_say("done");
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned long i = 0; i < threads_cnt; i++)
		pthread_join(threads[i], NULL);
	target_count("hot", hot_cnt);
	target_count("rare", rare_cnt);
	target_count("heat", threads_cnt);
	return 0;
}
