// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * asks_parent [TIMES]: asks its parent to trace it, as programs do that look for debuggers, then
 * gets signals, also in a thread that has asked as well, and executes itself. Prints what it has
 * counted. A parent that does not let it go on has it stop for ever.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include "target.h"

static volatile sig_atomic_t handled_cnt;

TRACED void handled(void)
{
	handled_cnt++;
}

static void handler(int sig)
{
	handled();
}

static void *ask(void *times)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (unsigned long i = 0; i < *(unsigned long *)times; i++)
		raise(i % 2 ? SIGUSR1 : SIGTRAP);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = handler};
	pthread_t thread;

	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 3);
	if (argc > 2) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/proc/self/exe", argv[0], argv[1], (char *)NULL);
		return 1;
	}
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTRAP, &sa, NULL);
	ask(&times);
	pthread_create(&thread, NULL, ask, &times);
	pthread_join(thread, NULL);
	target_count("handled", handled_cnt);
	return 5;
}
