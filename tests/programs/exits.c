// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exits HOW [TIMES]: calls outer -> middle -> inner TIMES times, then once more and ends inside:
 * HOW is exit, _exit, signal, abort, pthread_exit or cancel (of a thread), or return (does not).
 */
#include <pthread.h>
#include <signal.h>
#include "target.h"

static unsigned long outer_cnt, middle_cnt, inner_cnt, cleanup_cnt;
static const char *how;

static void print_counts(void)
{
	target_count("outer", outer_cnt);
	target_count("middle", middle_cnt);
	target_count("inner", inner_cnt);
	target_count("cleanup", cleanup_cnt);
	fflush(stdout);
}

TRACED void cleanup(void *arg)
{
	cleanup_cnt++;
}

TRACED void inner(int last)
{
	inner_cnt++;
	if (!last)
		return;
	if (!strcmp(how, "pthread_exit"))
		pthread_exit(NULL);
	if (!strcmp(how, "cancel"))
		for (;;)
			pause();
	print_counts();
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "_exit"))
		_exit(8);
	if (!strcmp(how, "signal"))
		raise(SIGTERM);
	if (!strcmp(how, "abort"))
		abort();
}

TRACED void middle(int last)
{
	middle_cnt++;
	pthread_cleanup_push(cleanup, NULL);
	inner(last);
	pthread_cleanup_pop(0);
}

TRACED void outer(int last)
{
	outer_cnt++;
	middle(last);
}

static void *thread(void *arg)
{
	outer(1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;

	target_begin(&argc, &argv);
	how = argc > 1 ? argv[1] : "return";
	unsigned long times = target_arg(argc, argv, 2, 10);

	for (unsigned long i = 0; i < times; i++)
		outer(0);
	if (!strcmp(how, "pthread_exit") || !strcmp(how, "cancel")) {
		pthread_create(&id, NULL, thread, NULL);
		if (!strcmp(how, "cancel"))
			pthread_cancel(id);
		pthread_join(id, NULL);
	} else if (strcmp(how, "return")) {
		outer(1);
	}
	print_counts();
	return 0;
}
