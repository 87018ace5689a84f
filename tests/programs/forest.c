// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forest [CHILDREN [TIMES]]: CHILDREN children are forked in `grow`, and each forks one of its own
 * there; in `branch` a thread forks as many. All call `work` TIMES times and return from `grow`.
 * Then a child is forked and one is vforked to begin this very program anew: what that calls is not
 * counted. COUNT has what all processes have called, the new programs left out.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "target.h"

static struct counts {
	unsigned long grow, work, branch, begin_anew, failed;
} * all; /* of all processes */

static unsigned long times;

static void count(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

TRACED void work(void)
{
	count(&all->work);
}

/* Returns in the child, too: 0. */
TRACED pid_t grow(void)
{
	pid_t pid;

	count(&all->grow);
	pid = fork();
	for (unsigned long i = 0; i < times; i++)
		work();
	return pid;
}

static void await(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		count(&all->failed);
}

TRACED void *branch(void *arg)
{
	unsigned long children = (unsigned long)arg;

	count(&all->branch);
	for (unsigned long i = 0; i < children; i++) {
		pid_t pid = grow();

		if (!pid)
			_exit(0);
		await(pid);
	}
	return NULL;
}

TRACED void begin_anew(const char *program, int by_vfork)
{
	char *const argv[] = {(char *)program, "--anew", NULL};
	pid_t pid;

	count(&all->begin_anew);
	pid = by_vfork ? vfork() : fork();
	if (!pid) {
		execv(program, argv);
		_exit(1);
	}
	await(pid);
}

/* The new program: its counts are nobody's. */
static int live_anew(void)
{
	for (unsigned long i = 0; i < 1000; i++)
		work();
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "--anew"))
		return live_anew();
	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 3);

	times = target_arg(argc, argv, 2, 10);
	for (unsigned long i = 0; i < children; i++) {
		pid_t pid = grow();

		if (!pid) {
			pid = grow();
			if (pid)
				await(pid);
			_exit(0);
		}
		await(pid);
	}
	if (pthread_create(&thread, NULL, branch, (void *)children))
		return 1;
	pthread_join(thread, NULL);
	begin_anew("/proc/self/exe", 0);
	begin_anew("/proc/self/exe", 1);
	printf("failed %lu\n", all->failed);
	target_count("grow", all->grow);
	target_count("work", all->work);
	target_count("branch", all->branch);
	target_count("begin_anew", all->begin_anew);
	return !!all->failed;
}
