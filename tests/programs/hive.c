// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hive [CHILDREN]: has CHILDREN processes of its name, which do nothing and end with it; then it is
 * ready, and calls `work` ten times.
 */
#include <signal.h>
#include <sys/prctl.h>
#include "target.h"

static unsigned long work_cnt;

TRACED void work(void)
{
	work_cnt++;
}

static void idle(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	int waits = argc > 1 && !strcmp(argv[1], "--wait");
	unsigned long children = target_arg(argc, argv, 1 + waits, 3);
	pid_t self = getpid();

	for (unsigned long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			idle(self);
	}
	target_begin(&argc, &argv);
	for (int i = 0; i < 10; i++)
		work();
	target_count("work", work_cnt);
	return 0;
}
