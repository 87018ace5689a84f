// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd [YIELDS]: four threads, each with a coroutine of its own make that it resumes YIELDS times. The
 * coroutines run at the same time, on stacks side by side in one mapping, and nobody is told. What
 * switches stacks is the function SWITCH; without that, code made at run time, which no file has.
 */
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include "target.h"

#define TEXT(x)	   #x
#define NAME(x)	   TEXT(x)
#define THREADS	   4
#define STACK_SIZE (64 * 1024)

struct member {
	void *here, *back;
	unsigned long outer_cnt, leaf_cnt;
};

static struct member members[THREADS];
static __thread struct member *self;
static unsigned long yields;

/* Saves where it is called in *FROM, and goes on at TO: step_aside.S. */
#ifdef SWITCH
void switch_to(void **from, void *to) __asm__(NAME(SWITCH));
static void make_switch(void)
{
}
#else
static void (*switch_to)(void **from, void *to);

static void make_switch(void)
{
	static const uint8_t code[] = {
		0x55, 0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, /* push */
		0x48, 0x89, 0x27, 0x48, 0x89, 0xf4,			    /* mov */
		0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d, /* pop */
		0xc3,							    /* ret */
	};
	void *at = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	memcpy(at, code, sizeof(code));
	if (mprotect(at, sizeof(code), PROT_READ | PROT_EXEC))
		err(1, "mprotect");
	switch_to = at;
}
#endif

TRACED void leaf(void)
{
	self->leaf_cnt++;
}

TRACED void outer(void)
{
	self->outer_cnt++;
	leaf();
	switch_to(&self->here, self->back);
	leaf();
}

static void live(void)
{
	for (;;)
		outer();
}

static void *work(void *arg)
{
	self = arg;
	for (unsigned long i = 0; i < yields; i++)
		switch_to(&self->back, self->here);
	return NULL;
}

int main(int argc, char **argv)
{
	char *stacks = mmap(NULL, THREADS * STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long outer_cnt = 0, leaf_cnt = 0;
	pthread_t threads[THREADS];

	make_switch();
	target_begin(&argc, &argv);
	yields = target_arg(argc, argv, 1, 1000);
	for (int i = 0; i < THREADS; i++) {
		void **top = (void **)(stacks + (i + 1) * STACK_SIZE) - 8;

		top[6] = (void *)live; /* returned to, with the stack aligned as after a call */
		members[i].here = top;
		pthread_create(&threads[i], NULL, work, &members[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		outer_cnt += members[i].outer_cnt;
		leaf_cnt += members[i].leaf_cnt;
	}
	target_count("outer", outer_cnt);
	target_count("leaf", leaf_cnt);
	return 0;
}
