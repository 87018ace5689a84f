// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * often [TIMES]: waits for another thread's answers, TIMES times through a pipe, two of three from
 * `ask_first` and one from `ask_second`, which have the same instruction and the same stack pointer
 * there. Each 200th answer takes 2 ms. Prints how long each waited, by this program's own
 * clock, in ns.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

#define SELDOM 200
#define MS     1000000

enum { READS, WRITES };

static int questions[2], answers[2];

/* Until the other end is closed. */
static void *answer(void *arg)
{
	const struct timespec long_time = {.tv_nsec = 2 * MS};
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
	char c = number % SELDOM == 0 ? 's' : 'q';
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

int main(int argc, char **argv)
{
	unsigned long times = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;
	pthread_t thread;

	if (pipe(questions) || pipe(answers) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	outer(times);
	close(questions[WRITES]);
	pthread_join(thread, NULL);
	target_count("first_ns", first_ns);
	target_count("second_ns", second_ns);
	return 0;
}
