// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions of all kinds. "COUNT name N" is how often one was begun, or a mark passed, "UNWOUND N"
 * how many of them, in all, never came to their end. Arguments: rounds, and "fork": a child does
 * the same rounds again.
 */
#include "target.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "proftrace.h"

#define THREADS 3
#define LEVELS	5

enum { OUTER, INNER, BEFORE, AFTER, LEVEL, LOST, JUMPED, HANDED, LEFT, PASSED, THREAD, LATE, TURN,
       TURNED, MARKED, NAMES };

static const char *const names[NAMES] = {
	"outer",  "inner", "before", "after",  "level", "lost", "jumped", "handed",
	"left",	  "passed", "threaded", "late",  "turn",  "turned", "marked",
};

static unsigned long counts[NAMES], unwound;
static jmp_buf out;
static volatile unsigned long sink;

TRACED void work(void)
{
	sink++;
}

/* A region in another one, in a function that is a leaf but for that. */
TRACED void nested(void)
{
	PROFTRACE_REGION("outer");
	counts[OUTER]++;
	for (int i = 0; i < 2; i++) {
		PROFTRACE_REGION("inner");
		counts[INNER]++;
		work();
	}
}

/* The first to begin ends first: the other one is closed with it, and its own end finds none. */
TRACED void overlapping(void)
{
	PROFTRACE_BEGIN("before");
	counts[BEFORE]++;
	PROFTRACE_BEGIN("after");
	counts[AFTER]++;
	unwound++;
	work();
	PROFTRACE_END("before");
	work();
	PROFTRACE_END("after");
}

TRACED void recursive(int levels)
{
	PROFTRACE_REGION("level");
	counts[LEVEL]++;
	if (levels > 1)
		recursive(levels - 1);
	work();
}

/* Ends but once: each begin is the end of the one before it. */
TRACED void losing(void)
{
	for (int i = 0; i < 4; i++) {
		PROFTRACE_BEGIN("lost");
		counts[LOST]++;
		work();
	}
	unwound += 3;
	PROFTRACE_END("lost");
}

TRACED void jump(void)
{
	PROFTRACE_BEGIN("jumped");
	counts[JUMPED]++;
	unwound++;
	longjmp(out, 1);
}

TRACED void jumping(void)
{
	if (!setjmp(out))
		jump();
	work();
}

TRACED void finish(void)
{
	work();
	PROFTRACE_END("handed");
	work();
}

/* Ends in a callee. */
TRACED void handing(void)
{
	PROFTRACE_BEGIN_VALUES("handed", counts[HANDED]);
	counts[HANDED]++;
	finish();
	work();
}

TRACED void leave(void)
{
	PROFTRACE_BEGIN("left");
	counts[LEFT]++;
	unwound++;
	work();
}

/* The callee leaves the region without an end. */
TRACED void leaving(void)
{
	leave();
	work();
}

/* A leaf that keeps variables where a call would push. */
TRACED unsigned long leaf(unsigned long x)
{
	volatile unsigned long kept[4] = {x, x + 1, x + 2, x + 3};

	PROFTRACE_MARK("passed");
	counts[PASSED]++;
	PROFTRACE_BEGIN("late");
	counts[LATE]++;
	PROFTRACE_END("late");
	return kept[0] + kept[1] + kept[2] + kept[3];
}

static void check_leaf(unsigned long x)
{
	if (leaf(x) == 4 * x + 6)
		return;
	printf("a leaf's variables were overwritten\n");
	exit(1);
}

static ucontext_t main_context, turns[2];
static char stacks[2][65536];

TRACED void take_turns(int self)
{
	PROFTRACE_REGION("turn");
	counts[TURN]++;
	work();
	swapcontext(&turns[self], self ? &main_context : &turns[1]);
	PROFTRACE_BEGIN("turned");
	counts[TURNED]++;
	work();
	PROFTRACE_END("turned");
}

/* Two coroutines that are within a region while the other one is. */
TRACED void coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&turns[i]);
		turns[i].uc_stack.ss_sp = stacks[i];
		turns[i].uc_stack.ss_size = sizeof(stacks[i]);
		turns[i].uc_link = &main_context;
		makecontext(&turns[i], (void (*)(void))take_turns, 1, i);
	}
	swapcontext(&main_context, &turns[0]);
	swapcontext(&main_context, &turns[0]);
	swapcontext(&main_context, &turns[1]);
}

static void *thread(void *arg)
{
	unsigned long rounds = *(unsigned long *)arg;

	for (unsigned long i = 0; i < rounds; i++) {
		PROFTRACE_REGION("threaded");
		work();
	}
	return NULL;
}

static void threads(unsigned long rounds)
{
	pthread_t all[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, thread, &rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	counts[THREAD] += THREADS * rounds;
}

static void run(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		nested();
		overlapping();
		recursive(LEVELS);
		losing();
		jumping();
		handing();
		leaving();
		check_leaf(i);
		coroutines();
		PROFTRACE_MARK("marked");
		counts[MARKED]++;
	}
	threads(rounds);
}

int main(int argc, char **argv)
{
	unsigned long rounds;
	int times = 1;

	target_begin(&argc, &argv);
	rounds = target_arg(argc, argv, 1, 10);
	run(rounds);
	if (argc > 2 && !strcmp(argv[2], "fork")) {
		int status = 0;

		/* With what the probes have made of the code. */
		times = 2;
		if (!fork()) {
			run(rounds);
			_exit(0);
		}
		wait(&status);
		if (status)
			return 1;
	}
	for (int i = 0; i < NAMES; i++)
		target_count(names[i], times * counts[i]);
	printf("UNWOUND in all %lu\n", times * unwound);
	return 0;
}
