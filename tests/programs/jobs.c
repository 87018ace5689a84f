// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jobs: does what it is told by lines on stdin, and answers each with "done": "request N" calls N
 * times request -> work -> step; "work N" work -> step; "ended N" ended -> work, finish, work; "both N"
 * request and work on two threads at the same time; "finish N" finish alone. Ends with stdin.
 */
#include <pthread.h>
#include "target.h"

static unsigned long request_cnt, work_cnt, step_cnt, finish_cnt;

#define COUNT(of) __atomic_add_fetch(&of##_cnt, 1, __ATOMIC_RELAXED)

TRACED void step(void)
{
	COUNT(step);
}

TRACED void work(void)
{
	COUNT(work);
	step();
}

TRACED void finish(void)
{
	COUNT(finish);
}

TRACED void request(void)
{
	COUNT(request);
	work();
}

TRACED void ended(void)
{
	work();
	finish();
	work();
}

static void *work_many(void *times)
{
	for (long i = 0; i < (long)times; i++)
		work();
	return NULL;
}

static void *request_many(void *times)
{
	for (long i = 0; i < (long)times; i++)
		request();
	return NULL;
}

int main(int argc, char **argv)
{
	char line[64];

	target_begin(&argc, &argv);
	while (target_read_line(line, sizeof(line))) {
		const char *times_at = strchr(line, ' ');
		long times = times_at ? strtol(times_at, NULL, 0) : 0;
		pthread_t other;

		if (!strncmp(line, "both", 4)) {
			if (pthread_create(&other, NULL, work_many, (void *)times))
				return 1;
			request_many((void *)times);
			pthread_join(other, NULL);
			times = 0;
		}
		for (long i = 0; i < times; i++) {
			switch (*line) {
			case 'r':
				request();
				break;
			case 'w':
				work();
				break;
			case 'e':
				ended();
				break;
			default:
				finish();
			}
		}
		target_say("done");
	}
	target_count("request", request_cnt);
	target_count("work", work_cnt);
	target_count("step", step_cnt);
	target_count("finish", finish_cnt);
	return 0;
}
