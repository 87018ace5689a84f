// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions that one function begins and another one ends, after the first has returned. "COUNT name
 * N" is how often one was begun, "OPEN in all N" how many of them never ended, "TIMES name LEAST
 * MOST" between what the times of all of them lie that are in no other of their name: by the clock
 * right inside of begins and ends, and by the clock right outside. Argument: rounds.
 */
#include "target.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "proftrace.h"

#define THREADS 3
#define LEVELS	4

enum { JOB, TASK, EVENT, JUMPED, TURN, LOST, NAP, NAMES };

static const char *const names[NAMES] = {"job", "task", "event", "jumped", "turn", "lost", "nap"};

static unsigned long counts[NAMES], least[NAMES], most[NAMES], lost;
static volatile unsigned long sink;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void add(unsigned long *to, uint64_t value)
{
	__atomic_add_fetch(to, value, __ATOMIC_RELAXED);
}

TRACED void work(void)
{
	for (int i = 0; i < 100; i++)
		sink++;
}

TRACED void begin_job(long level)
{
	PROFTRACE_BEGIN_VALUES("job", level);
}

TRACED void end_job(void)
{
	PROFTRACE_END("job");
}

/* The span may end in more than one place. */
TRACED void abandon_job(void)
{
	work();
	PROFTRACE_END("job");
}

TRACED void begin_task(void)
{
	PROFTRACE_BEGIN("task");
}

TRACED void end_task(void)
{
	PROFTRACE_END("task");
}

enum what { BEGINS, ENDS, PASSES };

/* Interpreters tell all that happens in one function. */
TRACED void tell(enum what what)
{
	switch (what) {
	case BEGINS:
		PROFTRACE_BEGIN("event");
		break;
	case ENDS:
		PROFTRACE_END("event");
		break;
	default:
		work();
	}
}

TRACED void begin_turn(void)
{
	PROFTRACE_BEGIN("turn");
}

TRACED void end_turn(void)
{
	PROFTRACE_END("turn");
}

TRACED void begin_nap(void)
{
	PROFTRACE_BEGIN("nap");
}

TRACED void end_nap(void)
{
	PROFTRACE_END("nap");
}

TRACED void begin_lost(void)
{
	PROFTRACE_BEGIN("lost");
}

TRACED void end_lost(void)
{
	PROFTRACE_END("lost");
}

TRACED void begin_jumped(jmp_buf *out)
{
	PROFTRACE_BEGIN("jumped");
	if (out)
		longjmp(*out, 1);
}

TRACED void end_jumped(void)
{
	PROFTRACE_END("jumped");
}

/* When something began: as seen from outside and inside. */
struct clocks {
	uint64_t outside, inside;
};

static void begun(struct clocks *c)
{
	c->inside = now();
}

static void timed(int name, const struct clocks *c, uint64_t inside)
{
	add(&least[name], inside - c->inside);
	add(&most[name], now() - c->outside);
}

static void jobs(long level)
{
	struct clocks c = {.outside = now()};
	uint64_t inside;

	begin_job(level);
	begun(&c);
	add(&counts[JOB], 1);
	for (int i = 0; level < LEVELS && i < 2; i++)
		jobs(level + 1);
	work();
	inside = now();
	if (level % 2)
		end_job();
	else
		abandon_job();
	if (level == 1)
		timed(JOB, &c, inside);
}

/* A task and an event that overlap. */
static void overlapping(void)
{
	struct clocks task = {.outside = now()}, event;
	uint64_t inside;

	begin_task();
	begun(&task);
	event.outside = now();
	tell(BEGINS);
	begun(&event);
	tell(PASSES);
	inside = now();
	end_task();
	timed(TASK, &task, inside);
	work();
	inside = now();
	tell(ENDS);
	timed(EVENT, &event, inside);
	add(&counts[TASK], 1);
	add(&counts[EVENT], 1);
}

static void jumping(void)
{
	struct clocks c = {.outside = now()};
	uint64_t inside;
	jmp_buf out;

	if (!setjmp(out))
		begin_jumped(&out);
	begun(&c);
	work();
	inside = now();
	end_jumped();
	timed(JUMPED, &c, inside);
	add(&counts[JUMPED], 1);
}

static void napping(void)
{
	const struct timespec moment = {.tv_nsec = 1000};
	struct clocks c = {.outside = now()};
	uint64_t inside;

	begin_nap();
	begun(&c);
	nanosleep(&moment, NULL);
	inside = now();
	end_nap();
	timed(NAP, &c, inside);
	add(&counts[NAP], 1);
}

static ucontext_t main_context, turns[2];
static char stacks[2][65536];

static void take_turns(int self)
{
	struct clocks c = {.outside = now()};
	uint64_t inside;

	begin_turn();
	begun(&c);
	swapcontext(&turns[self], self ? &main_context : &turns[1]);
	inside = now();
	end_turn();
	timed(TURN, &c, inside);
	add(&counts[TURN], 1);
}

/* Two coroutines: the first to begin is the first to end. */
static void coroutines(void)
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

	end_lost(); /* there is nothing that it could end */
	end_task();
	for (unsigned long i = 0; i < rounds; i++) {
		jobs(1);
		overlapping();
		jumping();
		napping();
	}
	begin_lost();
	begin_lost();
	end_lost();
	add(&counts[LOST], 2);
	add(&lost, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t all[THREADS];
	unsigned long rounds;

	target_begin(&argc, &argv);
	rounds = target_arg(argc, argv, 1, 10);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, thread, &rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	for (unsigned long i = 0; i < rounds; i++)
		coroutines();
	if (!rounds)
		begin_jumped(NULL);
	for (int i = 0; i < NAMES; i++) {
		target_count(names[i], counts[i]);
		if (most[i])
			printf("TIMES %s %lu %lu\n", names[i], least[i], most[i]);
	}
	printf("OPEN in all %lu\n", lost);
	return 0;
}
