// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forkstorm [CHILDREN]: forks CHILDREN children, up to eight at a time; each calls `work` ten
 * times, the parent once for each of them. Says "storm" when an eighth of them is born.
 */
#include <sys/wait.h>
#include "target.h"

static unsigned long work_cnt;

TRACED void work(void)
{
	work_cnt++;
}

static void live(unsigned long before)
{
	for (int i = 0; i < 10; i++)
		work();
	_exit(work_cnt != before + 10);
}

int main(int argc, char **argv)
{
	unsigned long failed = 0, running = 0;
	int status;

	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 200);

	for (unsigned long i = 0; i < children; i++) {
		pid_t pid;

		if (i == children / 8)
			target_say("storm");
		work();
		pid = fork();
		if (!pid)
			live(work_cnt);
		failed += pid < 0;
		running += pid > 0;
		if (running == 8) {
			wait(&status);
			running--;
			failed += !!status;
		}
	}
	while (wait(&status) > 0)
		failed += !!status;
	printf("failed %lu\n", failed);
	printf("CHILDREN work %lu\n", children * 10);
	target_count("work", work_cnt);
	return !!failed;
}
