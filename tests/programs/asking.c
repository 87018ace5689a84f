// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * asking --wait: threads that make system calls all the time, from before "ready" on. Answers each
 * line on stdin with "done", once every thread has made 1,000 more. Ends with stdin.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include "target.h"

#define THREADS 2
#define MORE	1000

static atomic_ulong asked[THREADS];
static atomic_bool ends;

static void *ask(void *arg)
{
	atomic_ulong *cnt = arg;

	while (!ends) {
		syscall(SYS_getppid);
		++*cnt;
	}
	return NULL;
}

static void wait_for_more(void)
{
	for (int i = 0; i < THREADS; i++) {
		unsigned long from = asked[i];

		while (asked[i] - from < MORE)
			usleep(1000);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char line[64];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask, &asked[i]);
	wait_for_more();
	target_begin(&argc, &argv);
	do {
		wait_for_more();
		target_say("done");
	} while (target_read_line(line, sizeof(line)));
	ends = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
