// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * borrowers [CHILDREN [TIMES]]: children that are processes of their own in their parent's memory
 * (CLONE_VM), eight at a time, on stacks that it has allocated for them side by side. Each makes
 * calls TIMES times. Prints what all of them have counted.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include "target.h"

#define AT_A_TIME  8
#define STACK_SIZE (16 * 1024)

static unsigned long outer_cnt, inner_cnt, times;

TRACED void inner(void)
{
	__atomic_add_fetch(&inner_cnt, 1, __ATOMIC_RELAXED);
}

TRACED void outer(void)
{
	__atomic_add_fetch(&outer_cnt, 1, __ATOMIC_RELAXED);
	inner();
	inner();
}

static int child(void *unused)
{
	for (unsigned long i = 0; i < times; i++)
		outer();
	return 0;
}

int main(int argc, char **argv)
{
	char *stacks = malloc(AT_A_TIME * STACK_SIZE);

	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 100);

	times = target_arg(argc, argv, 2, 10);
	for (unsigned long i = 0; stacks && i < children; i++) {
		char *top = stacks + (i % AT_A_TIME + 1) * STACK_SIZE;

		if (clone(child, top, CLONE_VM | SIGCHLD, NULL) < 0)
			err(1, "clone");
		if (i % AT_A_TIME == AT_A_TIME - 1 || i + 1 == children) {
			while (wait(NULL) > 0)
				;
		}
	}
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	return 0;
}
