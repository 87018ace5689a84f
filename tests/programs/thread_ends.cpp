// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * thread_ends HOW [FRAMES [THREADS]]: threads that end inside FRAMES frames with destructors, by
 * HOW: exit (pthread_exit) or cancel. One frame catches the forced unwinding and lets it go on.
 */
#include <cxxabi.h>
#include <pthread.h>
#include "target.h"

static unsigned long run_cnt, descend_cnt, end_cnt, destroyed_cnt, passed_cnt;
static unsigned long frames;
static bool cancels;
static int ready[2];

struct Guard {
	~Guard()
	{
		destroyed_cnt++;
	}
};

TRACED void end()
{
	end_cnt++;
	if (!cancels)
		pthread_exit(nullptr);
	if (write(ready[1], "", 1) == 1)
		for (;;)
			pause();
}

TRACED void descend(unsigned long n)
{
	Guard guard;

	descend_cnt++;
	if (n > 1)
		descend(n - 1);
	else
		end();
}

TRACED void *run(void *arg)
{
	Guard guard;

	run_cnt++;
	try {
		descend(frames);
	} catch (const abi::__forced_unwind &) {
		passed_cnt++;
		throw;
	}
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long ended = 0;

	target_begin(&argc, &argv);
	cancels = argc > 1 && !strcmp(argv[1], "cancel");
	frames = target_arg(argc, argv, 2, 5);
	if (pipe(ready))
		return 1;
	for (unsigned long i = 0; i < target_arg(argc, argv, 3, 10); i++) {
		pthread_t thread;
		void *result;
		char byte;

		pthread_create(&thread, nullptr, run, nullptr);
		if (cancels && read(ready[0], &byte, 1) == 1)
			pthread_cancel(thread);
		pthread_join(thread, &result);
		ended += result == (cancels ? PTHREAD_CANCELED : nullptr);
	}
	printf("ended %lu passed %lu destroyed %lu\n", ended, passed_cnt, destroyed_cnt);
	target_count("run(void*)", run_cnt);
	target_count("descend(unsigned long)", descend_cnt);
	target_count("end()", end_cnt);
	return destroyed_cnt != run_cnt + descend_cnt;
}
