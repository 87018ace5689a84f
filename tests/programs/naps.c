// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naps [TIMES]: TIMES children are forked in `nap`, one after the other, and begin a program that
 * sleeps for 0.2 s. The last line, as "BEYOND us 5100", says how much longer than that all of them
 * took together, from the fork to their end.
 */
#include <sys/wait.h>
#include "target.h"

#define NAP_NS 200000000ul

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
	unsigned long began, took_ns = 0, times;
	int well = 1;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 5);
	for (unsigned long i = 0; i < times; i++) {
		began = target_now_ns();
		well &= nap();
		took_ns += target_now_ns() - began;
	}
	printf("%s\n", well ? "all well" : "failed");
	target_count("nap", nap_cnt);
	printf("BEYOND us %lu\n", (took_ns - times * NAP_NS) / 1000);
	return !well;
}
