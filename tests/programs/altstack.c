// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * altstack above|below [TIMES [jump]]: a thread raises SIGUSR1 inside `outer`; the handler runs on
 * an alternate stack that lies above or below the thread's own, and returns, or jumps back.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include "target.h"

#define STACK_SIZE (256 * 1024)

static unsigned long times, outer_cnt, inner_cnt, on_signal_cnt, leaf_cnt, back_cnt;
static int jumps;
static char *alternate_stack;
static sigjmp_buf back;

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void on_signal(int signo)
{
	on_signal_cnt++;
	leaf();
	if (jumps)
		siglongjmp(back, 1);
}

TRACED void inner(void)
{
	inner_cnt++;
	leaf();
	raise(SIGUSR1);
	leaf();
}

TRACED void outer(void)
{
	outer_cnt++;
	if (!sigsetjmp(back, 1))
		inner();
	else
		back_cnt++;
	leaf();
}

static void *work(void *arg)
{
	stack_t alternate = {.ss_sp = alternate_stack, .ss_size = STACK_SIZE};

	sigaltstack(&alternate, NULL);
	for (unsigned long i = 0; i < times; i++)
		outer();
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	char *low = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	pthread_attr_t attr;
	pthread_t thread;

	target_begin(&argc, &argv);
	int above = argc > 1 && !strcmp(argv[1], "above");

	times = target_arg(argc, argv, 2, 100);
	jumps = argc > 3;
	alternate_stack = above ? low + STACK_SIZE : low;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, above ? low : low + STACK_SIZE, STACK_SIZE);
	sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&thread, &attr, work, NULL))
		return 1;
	pthread_join(thread, NULL);
	printf("jumped back %lu\n", back_cnt);
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	target_count("on_signal", on_signal_cnt);
	target_count("leaf", leaf_cnt);
	return 0;
}
