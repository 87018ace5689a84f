// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naps [TIMES]: TIMES children are forked in `nap`, one after the other, and begin a program that
 * sleeps for 0.2 s.
 */
#include <sys/wait.h>
#include "target.h"

static char *const command[] = {"/bin/sleep", "0.2", NULL};
static unsigned long nap_cnt;

TRACED int nap(void)
{
	int status = -1;
	pid_t pid;

	nap_cnt++;
	pid = fork();
	if (!pid) {
		execv(command[0], command);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int main(int argc, char **argv)
{
	int well = 1;

	target_begin(&argc, &argv);
	for (unsigned long i = 0, times = target_arg(argc, argv, 1, 5); i < times; i++)
		well &= nap();
	printf("%s\n", well ? "all well" : "failed");
	target_count("nap", nap_cnt);
	return !well;
}
