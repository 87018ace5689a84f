// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pidreuse [CHILDREN [TIMES]] (root): CHILDREN processes, one after the other, all with the same
 * PID; each calls outer -> work TIMES times, and ends inside both in every second child. Prints
 * what they did as one, and whether they got that PID.
 */
#include <errno.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "target.h"

static unsigned long outer_cnt, work_cnt;

TRACED void work(int ends)
{
	work_cnt++;
	if (ends)
		_exit(0);
}

TRACED void outer(int ends)
{
	outer_cnt++;
	work(ends);
}

/* Like fork(), but the child has the PID that we want, or any if it is 0. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD};

	args.set_tid = pid ? (uintptr_t)&pid : 0;
	args.set_tid_size = pid ? 1 : 0;
	return syscall(SYS_clone3, &args, sizeof(args));
}

/* The first child gets any PID, the others the same. Strangers may get it in between: then the next
 * child tries again. */
static int run(unsigned long children, unsigned long times, pid_t *same)
{
	int status, wrong = 0;

	for (unsigned long i = 0; i < children; i++) {
		pid_t pid = fork_as(*same);

		for (int tries = 0; pid < 0 && errno == EEXIST && tries < 1000; tries++) {
			usleep(1000);
			pid = fork_as(*same);
		}
		if (pid < 0) {
			perror("clone3");
			return -1;
		}
		if (!pid) {
			for (unsigned long t = 1; t <= times; t++)
				outer(i % 2 && t == times);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		wrong += *same && pid != *same;
		*same = pid;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	pid_t same = 0;

	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 50);
	unsigned long times = target_arg(argc, argv, 2, 10);
	int wrong = run(children, times, &same);

	printf("%s\n", wrong ? "other PIDs" : "one PID");
	target_count("outer", children * times);
	target_count("work", children * times);
	return wrong != 0;
}
