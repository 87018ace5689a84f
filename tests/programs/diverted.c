// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diverted [TIMES]: has its own system calls handed to itself, as Wine does with those of the
 * programs that it runs. Prints how many came, of which kinds, and what it has counted.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "target.h"

#define DISPATCH 59 /* PR_SET_SYSCALL_USER_DISPATCH, since Linux 5.11 */

static volatile char blocked;
static volatile unsigned long expected_cnt, strange_cnt;
static unsigned long outer_cnt, inner_cnt;

static void on_system_call(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	blocked = 0; /* returning from here is a system call, too */
	if (info->si_syscall == SYS_getppid)
		expected_cnt++;
	else
		strange_cnt++;
	uc->uc_mcontext.gregs[REG_RAX] = 42;
}

TRACED unsigned long inner(unsigned long value)
{
	inner_cnt++;
	return value * 3 + 1;
}

TRACED unsigned long outer(unsigned long value)
{
	outer_cnt++;
	return inner(value) + inner(value + 1);
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO};
	unsigned long sum = 0;

	target_begin(&argc, &argv);
	const unsigned long times = target_arg(argc, argv, 1, 100);
	sigaction(SIGSYS, &action, NULL);
	if (prctl(DISPATCH, 1, 0, 0, &blocked)) {
		perror("prctl");
		return 1;
	}
	for (unsigned long i = 0; i < times; i++) {
		blocked = 1;
		sum += outer(i);
		sum += syscall(SYS_getppid);
		blocked = 0;
	}
	prctl(DISPATCH, 0, 0, 0, 0);
	printf("sum %lu expected %lu strange %lu\n", sum, expected_cnt, strange_cnt);
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	return 6;
}
