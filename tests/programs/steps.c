// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * steps: does what it is told by lines on stdin, and answers each with "done": "N" calls
 * outer -> inner N times, "hold" stays inside both calls until the next line, "threads N" makes one
 * call on each of N threads that end with it. Ends with stdin.
 */
#include <pthread.h>
#include "target.h"

static unsigned long outer_cnt, inner_cnt;

TRACED void inner(int hold)
{
	char line[64];

	__atomic_add_fetch(&inner_cnt, 1, __ATOMIC_RELAXED);
	if (!hold)
		return;
	target_say("done");
	target_read_line(line, sizeof(line));
}

TRACED void outer(int hold)
{
	__atomic_add_fetch(&outer_cnt, 1, __ATOMIC_RELAXED);
	inner(hold);
}

static void *call_once(void *arg)
{
	outer(0);
	return arg;
}

static void start_threads(unsigned long threads)
{
	pthread_t *thread = calloc(threads, sizeof(*thread));

	for (unsigned long i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, call_once, NULL)) {
			perror("pthread_create");
			exit(1);
		}
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

int main(int argc, char **argv)
{
	char line[64];

	target_begin(&argc, &argv);
	while (target_read_line(line, sizeof(line))) {
		if (!strcmp(line, "hold"))
			outer(1);
		if (!strncmp(line, "threads ", 8))
			start_threads(strtoul(line + 8, NULL, 0));
		for (long i = strtol(line, NULL, 0); i > 0; i--)
			outer(0);
		target_say("done");
	}
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	return 0;
}
