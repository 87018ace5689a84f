// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fibers [FIBERS [YIELDS]]: each fiber yields YIELDS times in the midst of nested calls, and goes
 * on on the other one of two threads. Every call returns.
 */
#include <pthread.h>
#include <semaphore.h>
#include <ucontext.h>
#include "target.h"

#define STACK_SIZE (64 * 1024)
#define THREADS	   2

struct fiber {
	ucontext_t here, *back;
	int done;
};

static struct fiber *fibers;
static unsigned long fibers_cnt, yields, outer_cnt, inner_cnt, leaf_cnt;
static unsigned long turn, running;
static sem_t turns[THREADS];

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void inner(struct fiber *self)
{
	inner_cnt++;
	leaf();
	swapcontext(&self->here, self->back);
	leaf();
}

TRACED void outer(struct fiber *self)
{
	outer_cnt++;
	inner(self);
}

static void live(int index)
{
	struct fiber *self = &fibers[index];

	for (unsigned long i = 0; i < yields; i++)
		outer(self);
	self->done = 1;
	running--;
	setcontext(self->back);
}

/* The threads take turns; in each a thread lets the next fiber run up to its next yield. */
static void *work(void *arg)
{
	unsigned long me = (unsigned long)arg;
	ucontext_t back;

	for (;;) {
		struct fiber *fiber;

		sem_wait(&turns[me]);
		if (!running)
			break;
		fiber = &fibers[turn / THREADS % fibers_cnt];
		turn++;
		fiber->back = &back;
		if (!fiber->done)
			swapcontext(&back, &fiber->here);
		sem_post(&turns[!me]);
	}
	sem_post(&turns[!me]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	target_begin(&argc, &argv);
	running = fibers_cnt = target_arg(argc, argv, 1, 10);
	yields = target_arg(argc, argv, 2, 20);
	fibers = calloc(fibers_cnt, sizeof(*fibers));
	for (unsigned long i = 0; i < fibers_cnt; i++) {
		getcontext(&fibers[i].here);
		fibers[i].here.uc_stack.ss_sp = malloc(STACK_SIZE);
		fibers[i].here.uc_stack.ss_size = STACK_SIZE;
		makecontext(&fibers[i].here, (void (*)(void))live, 1, (int)i);
	}
	for (unsigned long i = 0; i < THREADS; i++)
		sem_init(&turns[i], 0, i == 0);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	target_count("leaf", leaf_cnt);
	return running != 0;
}
