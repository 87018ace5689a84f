// SPDX-License-Identifier: GPL-2.0-or-later
/* preempt: two fibres; a signal handler switches between them wherever they are, in leaves too.
 * Ends after a fixed number of switches. */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#define SWITCHES 200

static ucontext_t fibre[2], main_context;
static volatile int current, switches, done;
static char stacks[2][65536];

__attribute__((noipa)) long leaf(long x)
{
	for (int i = 0; i < 200; i++)
		x = x * 31 + 1;
	return x;
}

/* SIGALRM is blocked until the handler has switched: contexts keep the masks of signals, and that
 * of a fibre which has not run yet blocks it, too. An alarm amid the switch would save the stack of
 * one fibre as that of the other. */
static void handler(int signal)
{
	int from = current;

	(void)signal;
	if (++switches >= SWITCHES) {
		done = 1;
		return;
	}
	current = !from;
	swapcontext(&fibre[from], &fibre[current]);
}

static void run(int number)
{
	volatile long sum = 0;
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	/* An alarm before the first fibre runs would save main's context in place of a fibre's. */
	if (!number)
		ualarm(500, 500);
	while (!done)
		sum += leaf(number);
	printf("done\n");
	setcontext(&main_context);
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	for (int i = 0; i < 2; i++) {
		getcontext(&fibre[i]);
		sigaddset(&fibre[i].uc_sigmask, SIGALRM);
		fibre[i].uc_stack.ss_sp = stacks[i];
		fibre[i].uc_stack.ss_size = sizeof(stacks[i]);
		makecontext(&fibre[i], (void (*)(void))run, 1, i);
	}
	sigaction(SIGALRM, &action, NULL);
	swapcontext(&main_context, &fibre[0]);
	ualarm(0, 0);
	printf("end\n");
	return 0;
}
