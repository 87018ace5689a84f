// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * longjmp [FRAMES [TIMES [signal]]]: jumps over FRAMES frames of `descend`, TIMES times; with
 * `signal` the jump starts in a signal handler.
 */
#include <setjmp.h>
#include <signal.h>
#include "target.h"

static sigjmp_buf target;
static int by_signal;
static unsigned long around_cnt, descend_cnt, after_cnt, on_signal_cnt;

TRACED void on_signal(int signo)
{
	on_signal_cnt++;
	siglongjmp(target, 1);
}

TRACED void descend(unsigned long n)
{
	descend_cnt++;
	if (n > 1)
		descend(n - 1);
	else if (by_signal)
		raise(SIGUSR1);
	else
		siglongjmp(target, 1);
	puts("never reached");
}

TRACED void after(void)
{
	after_cnt++;
}

TRACED void around(unsigned long frames)
{
	around_cnt++;
	if (!sigsetjmp(target, 1))
		descend(frames);
	after();
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long frames = target_arg(argc, argv, 1, 3);
	unsigned long times = target_arg(argc, argv, 2, 10);

	by_signal = argc > 3;
	signal(SIGUSR1, on_signal);
	for (unsigned long i = 0; i < times; i++)
		around(frames);
	target_count("around", around_cnt);
	target_count("descend", descend_cnt);
	target_count("after", after_cnt);
	target_count("on_signal", on_signal_cnt);
	return 0;
}
