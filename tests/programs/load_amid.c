// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_amid [THREADS [LIBRARY]]: threads that make calls, 16 at a time. In the midst of it one loads
 * LIBRARY; without one it ends by pthread_exit(), for which libc loads an unwinder. Prints what all
 * have counted.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include "target.h"

#define AT_A_TIME 16

static unsigned long outer_cnt, inner_cnt, threads;
static const char *library;

TRACED void inner(void)
{
	__atomic_add_fetch(&inner_cnt, 1, __ATOMIC_RELAXED);
	for (volatile int i = 0; i < 50; i++)
		;
}

TRACED void outer(void)
{
	__atomic_add_fetch(&outer_cnt, 1, __ATOMIC_RELAXED);
	inner();
	inner();
}

static void *run(void *number)
{
	outer();
	if ((unsigned long)number != threads / 2)
		return NULL;
	if (!library)
		pthread_exit(NULL);
	if (!dlopen(library, RTLD_NOW))
		errx(1, "%s", dlerror());
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[AT_A_TIME];

	target_begin(&argc, &argv);
	threads = target_arg(argc, argv, 1, 2000);
	library = argc > 2 ? argv[2] : NULL;
	for (unsigned long done = 0; done < threads;) {
		int running = 0;

		for (; running < AT_A_TIME && done < threads; running++, done++) {
			if (pthread_create(&thread[running], NULL, run, (void *)done))
				errx(1, "no thread");
		}
		while (running)
			pthread_join(thread[--running], NULL);
	}
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	return 0;
}
