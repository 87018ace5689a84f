// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forks [CHILDREN [TIMES]]: forks CHILDREN children; they and the parent call `work` TIMES times
 * each, the parent before and after as well. COUNT is the parent's, CHILDREN what all children did.
 */
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

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 3);
	unsigned long times = target_arg(argc, argv, 2, 10);
	int status, failed = 0;

	work_times(times);
	for (unsigned long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid) {
			work_times(times);
			_exit(work_cnt != 2 * times);
		}
		waitpid(pid, &status, 0);
		failed |= status;
	}
	work_times(times);
	printf("CHILDREN work %lu\n", children * times);
	target_count("work", work_cnt);
	return !!failed;
}
