// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * disarm [TIMES]: raises SIGUSR1 inside `outer`; the handler runs on an alternate stack that lies above,
 * in the frame of a caller, and that the kernel forgets while the handler runs.
 */
#define _GNU_SOURCE
#include <signal.h>
#include "target.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31) /* <linux/signal.h>, which clashes with libc's */
#endif

static unsigned long outer_cnt, on_signal_cnt, leaf_cnt;

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void on_signal(int signo)
{
	on_signal_cnt++;
	leaf();
}

TRACED void outer(void)
{
	outer_cnt++;
	leaf();
	raise(SIGUSR1);
	leaf();
}

TRACED void repeat(unsigned long times)
{
	char stack[64 * 1024];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack), .ss_flags = (int)SS_AUTODISARM};

	sigaltstack(&alternate, NULL);
	for (unsigned long i = 0; i < times; i++)
		outer();
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	target_begin(&argc, &argv);
	sigaction(SIGUSR1, &action, NULL);
	repeat(target_arg(argc, argv, 1, 50));
	target_count("outer", outer_cnt);
	target_count("on_signal", on_signal_cnt);
	target_count("leaf", leaf_cnt);
	return 0;
}
