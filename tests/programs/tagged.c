// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tagged [REQUESTS]: handles REQUESTS requests, each of which has a number, a traceparent as text
 * and a trace id as 16 bytes, and hands a task to another thread, for which it waits. Says of each
 * "REQUEST number traceparent". Number and text are thread-local variables as well.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "target.h"

#define TRACEPARENT 56

struct tag {
	uint64_t before[2];
	uint8_t trace[16];
};

struct task {
	uint64_t number;
	int todo, closed;
};

/* The request that a thread is at. */
__thread uint64_t request_number;
__thread char request_text[TRACEPARENT];

static struct task task;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile unsigned int sink;

TRACED void step(unsigned int times)
{
	while (times--)
		sink++;
}

TRACED void run(uint64_t number)
{
	usleep(2000);
	step(number);
}

/* Hands a task over, or the end: 0. */
TRACED void submit(uint64_t number)
{
	pthread_mutex_lock(&lock);
	task.number = number;
	task.todo = number != 0;
	task.closed = !number;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_done(void)
{
	pthread_mutex_lock(&lock);
	while (task.todo)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

TRACED void handle(const char *traceparent, uint64_t number, const struct tag *tag)
{
	for (int i = 0; i < 20; i++)
		step(100);
	usleep(1000);
	submit(number);
	wait_done();
}

static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!task.closed) {
		if (!task.todo) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		run(task.number);
		pthread_mutex_lock(&lock);
		task.todo = 0;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long requests;
	pthread_t worker;

	target_begin(&argc, &argv);
	requests = target_arg(argc, argv, 1, 5);
	if (pthread_create(&worker, NULL, work, NULL))
		return 1;
	for (uint64_t i = 1; i <= requests; i++) {
		struct tag tag = {.trace = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3,
					    0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, i}};
		char text[TRACEPARENT] = "00-", *at = text + 3;

		for (int n = 0; n < 16; n++)
			at += sprintf(at, "%02x", tag.trace[n]);
		sprintf(at, "-00f067aa0ba902%02x-01", (unsigned int)i);
		request_number = i;
		memcpy(request_text, text, sizeof(text));
		handle(text, i, &tag);
		printf("REQUEST %lu %s\n", (unsigned long)i, text);
	}
	submit(0);
	pthread_join(worker, NULL);
	return 0;
}
