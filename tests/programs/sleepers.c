// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sleepers: threads that leave a stack without a call that a profiler sees, and then sleep.
 *
 * `schedule` calls a coroutine, `work`, which is suspended amid its call, and sleeps. `waiter` is
 * interrupted by a signal whose handler, `handle`, runs on a stack of its own, and sleeps. Prints
 * how long both slept, in ns, as COUNT lines.
 */
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include "target.h"

#define SLEEP_NS 200000000

static ucontext_t scheduler, coroutine;
static unsigned long handled_cnt;

static unsigned long nap(void)
{
	struct timespec time = {.tv_nsec = SLEEP_NS}, from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	while (nanosleep(&time, &time))
		;
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
}

TRACED void work(void)
{
	swapcontext(&coroutine, &scheduler);
}

static void begin(void)
{
	work();
	swapcontext(&coroutine, &scheduler);
}

TRACED unsigned long schedule(void)
{
	unsigned long ns;

	swapcontext(&scheduler, &coroutine);
	ns = nap();
	swapcontext(&scheduler, &coroutine);
	return ns;
}

TRACED void handle(int number)
{
	handled_cnt++;
}

TRACED unsigned long waiter(void)
{
	raise(SIGUSR1);
	return nap();
}

int main(int argc, char **argv)
{
	static char stack[64 * 1024], signal_stack[64 * 1024];
	const stack_t alternate = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	target_begin(&argc, &argv);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	makecontext(&coroutine, begin, 0);
	target_count("schedule_ns", schedule());
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	target_count("waiter_ns", waiter());
	target_count("handle", handled_cnt);
	return 0;
}
