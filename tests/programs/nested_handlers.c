// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nested_handlers [TICKS]: a timer of 1 kHz interrupts `work` TICKS times; its handler runs on an
 * alternate stack, is interrupted by SIGUSR1, and that one by SIGUSR2. How often `work` is called
 * depends on the time it had.
 */
#include <signal.h>
#include <sys/time.h>
#include "target.h"

static volatile sig_atomic_t ticks_left;
static unsigned long work_cnt, step_cnt, on_tick_cnt, on_usr1_cnt, on_usr2_cnt;

TRACED void on_usr2(int signo)
{
	on_usr2_cnt++;
}

TRACED void on_usr1(int signo)
{
	on_usr1_cnt++;
	raise(SIGUSR2);
}

TRACED void on_tick(int signo)
{
	on_tick_cnt++;
	raise(SIGUSR1);
	ticks_left--;
}

TRACED void step(void)
{
	step_cnt++;
}

TRACED void work(void)
{
	work_cnt++;
	step();
	step();
}

int main(int argc, char **argv)
{
	static char stack[64 * 1024];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct itimerval every = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};
	struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct sigaction usr1 = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct sigaction usr2 = {.sa_handler = on_usr2, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigset_t timer, before;

	target_begin(&argc, &argv);
	ticks_left = target_arg(argc, argv, 1, 200);
	sigaltstack(&alternate, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGUSR2, &usr2, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks_left > 0)
		work();
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	sigprocmask(SIG_BLOCK, &timer, &before);
	printf("handlers %s\n", on_tick_cnt == on_usr1_cnt && on_usr1_cnt == on_usr2_cnt &&
						step_cnt == 2 * work_cnt
					? "nested"
					: "lost");
	target_count("work", work_cnt);
	target_count("step", step_cnt);
	target_count("on_tick", on_tick_cnt);
	target_count("on_usr1", on_usr1_cnt);
	target_count("on_usr2", on_usr2_cnt);
	return 0;
}
