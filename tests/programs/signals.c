// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signals [TIMES [altstack]]: raises SIGUSR1 inside `outer`, TIMES times; the handler runs on the
 * thread's own stack or on an alternate one, and raises SIGUSR2 in turn.
 */
#include <signal.h>
#include "target.h"

static unsigned long outer_cnt, on_usr1_cnt, on_usr2_cnt, leaf_cnt;

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void on_usr2(int signo)
{
	on_usr2_cnt++;
	leaf();
}

TRACED void on_usr1(int signo)
{
	on_usr1_cnt++;
	leaf();
	raise(SIGUSR2);
	leaf();
}

TRACED void outer(void)
{
	outer_cnt++;
	leaf();
	raise(SIGUSR1);
	leaf();
}

int main(int argc, char **argv)
{
	static char stack[64 * 1024];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction usr1 = {.sa_handler = on_usr1}, usr2 = {.sa_handler = on_usr2};

	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	if (argc > 2) {
		sigaltstack(&alternate, NULL);
		usr1.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGUSR2, &usr2, NULL);
	for (unsigned long i = 0; i < times; i++)
		outer();
	target_count("outer", outer_cnt);
	target_count("on_usr1", on_usr1_cnt);
	target_count("on_usr2", on_usr2_cnt);
	target_count("leaf", leaf_cnt);
	return 0;
}
