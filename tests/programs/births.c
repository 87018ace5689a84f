// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * births [CHILDREN [TIMES]]: makes CHILDREN children without fork(): by system calls of its own,
 * or, built with -DVFORK, by vfork(). Each child calls `work` TIMES times, the parent before each
 * as well. COUNT is what all of them did; the status is 1 if a child did not end well.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "target.h"

static unsigned long work_cnt;

TRACED void work(void)
{
	work_cnt++;
}

static void work_times(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++)
		work();
}

/* A child that has its parent's memory counts there. */
static int give_birth(unsigned long times)
{
	int status;
#ifdef VFORK
	pid_t pid = vfork();
#else
	pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	work_cnt += pid > 0 ? times : 0;
#endif
	if (!pid) {
		work_times(times);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 3);
	unsigned long times = target_arg(argc, argv, 2, 10);
	int failed = 0;

	for (unsigned long i = 0; i < children; i++) {
		work_times(times);
		failed |= give_birth(times);
	}
	target_count("work", work_cnt);
	return failed;
}
