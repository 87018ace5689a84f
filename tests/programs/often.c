// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * often [TIMES [SELDOM [US]]]: waits for another thread's answers, TIMES times through a pipe, two
 * of three from `ask_first` and one from `ask_second`, which have the same instruction and the same
 * stack pointer there. Each answer in SELDOM (200) takes US (2,000) microseconds longer. Prints how
 * long each waited, by this program's own clock, and how long the thread was off the CPU, in ns.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

static unsigned long seldom;
static struct timespec long_time;

enum { READS, WRITES };

static int questions[2], answers[2];

/* Until the other end is closed. */
static void *answer(void *arg)
{
	char c;

	while (read(questions[READS], &c, 1) == 1) {
		if (c == 's')
			nanosleep(&long_time, NULL);
		if (write(answers[WRITES], &c, 1) != 1)
			break;
	}
	return arg;
}

/* Adds how long the answer took to *sum. */
TRACED void ask(unsigned long *sum, unsigned long number)
{
	char c = number % seldom == 0 ? 's' : 'q';
	unsigned long from;

	if (write(questions[WRITES], &c, 1) != 1)
		exit(1);
	from = target_now_ns();
	if (read(answers[READS], &c, 1) != 1)
		exit(1);
	*sum += target_now_ns() - from;
}

static unsigned long first_ns, second_ns;

TRACED void ask_first(unsigned long number)
{
	ask(&first_ns, number);
}

TRACED void ask_second(unsigned long number)
{
	ask(&second_ns, number);
}

TRACED void outer(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++) {
		if (i % 3)
			ask_first(i);
		else
			ask_second(i);
	}
}

static unsigned long cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ul + time.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long times, from, from_cpu;
	pthread_t thread;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 100000);
	seldom = target_arg(argc, argv, 2, 200);
	long_time.tv_nsec = target_arg(argc, argv, 3, 2000) * 1000;
	if (pipe(questions) || pipe(answers) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	from = target_now_ns();
	from_cpu = cpu_ns();
	outer(times);
	target_count("off_ns", target_now_ns() - from - (cpu_ns() - from_cpu));
	close(questions[WRITES]);
	pthread_join(thread, NULL);
	target_count("first_ns", first_ns);
	target_count("second_ns", second_ns);
	return 0;
}
