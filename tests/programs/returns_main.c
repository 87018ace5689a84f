// SPDX-License-Identifier: GPL-2.0-or-later
/* returns [TIMES [THREADS]]: calls each function of returns.S TIMES times in each of THREADS. */
#include <pthread.h>
#include "target.h"

#define MAX_THREADS 256

long returns_plain(long n), returns_rep(long n), returns_bnd(long n), returns_push(long n),
	returns_at_once(long n), returns_again(long n), returns_into(long n), returns_near(long n);
long returns_alone(long n), returns_itself(long n);

static const struct {
	const char *name;
	long (*function)(long n);
} functions[] = {
	{"returns_plain", returns_plain}, {"returns_rep", returns_rep},
	{"returns_bnd", returns_bnd},	  {"returns_push", returns_push},
	{"returns_into", returns_into},	  {"returns_at_once", returns_at_once},
	{"returns_near", returns_near},	  {"returns_again", returns_again},
	{"returns_itself", returns_itself},
};

#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

static unsigned long times;

static void *work(void *arg)
{
	for (unsigned long i = 0; i < times; i++) {
		for (size_t f = 0; f < FUNCTIONS; f++) {
			/* returns_again() calls itself three times, by the low bits of 7. */
			long n = functions[f].function == returns_again ? 7 : (long)i;

			if (functions[f].function(n) != n + 1)
				abort();
		}
		returns_alone(i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 10);
	unsigned long cnt = target_arg(argc, argv, 2, 1);

	if (cnt > MAX_THREADS)
		return 2;
	for (unsigned long i = 0; i < cnt; i++) {
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	}
	for (unsigned long i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
	for (size_t f = 0; f < FUNCTIONS; f++)
		target_count(functions[f].name,
			     cnt * times * (functions[f].function == returns_again ? 4 : 1));
	target_count("returns_pop", cnt * times);
	/* returns_into() runs into it. */
	target_count("returns_alone", cnt * times * 2);
	target_count("returns_inner", cnt * times * 6);
	target_count("returns_far", cnt * times);
	return 0;
}
