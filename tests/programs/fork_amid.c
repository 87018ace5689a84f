// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fork_amid [CHILDREN [GRANDCHILDREN]]: forks CHILDREN children, one after the other (0: until it is
 * killed), each while `outer` is open, which has called `inner` before; so does each child with
 * GRANDCHILDREN of its own. They return from `outer` and end. COUNT is the parent's.
 */
#include <sys/wait.h>
#include "target.h"

static unsigned long outer_cnt, inner_cnt;

TRACED int inner(int depth)
{
	inner_cnt++;
	return depth ? inner(depth - 1) + 1 : getppid() == 0;
}

/* Returns in the child, too, with 0. */
TRACED pid_t outer(void)
{
	pid_t pid;

	outer_cnt++;
	inner(3);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	inner(1);
	return pid;
}

static void make_child(unsigned long grandchildren)
{
	pid_t pid = outer();
	int status;

	if (!pid) {
		for (unsigned long i = 0; i < grandchildren; i++)
			make_child(0);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(2);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 3);
	unsigned long grandchildren = target_arg(argc, argv, 2, 2), made = 0;

	while (!children || made < children) {
		make_child(grandchildren);
		made++;
	}
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	return 0;
}
