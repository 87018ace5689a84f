// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/closer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/links/trace_event.h"

#define MAX_THREADS 1024
#define STACK_SIZE  (64 * 1024) /* for one system call */

struct closer {
	pthread_mutex_t lock;
	pthread_cond_t done;
	pthread_attr_t attr;
	unsigned busy; /* threads */
};

struct job {
	struct closer *closer;
	int fd;
	const struct trace_events *events; /* NULL: it is no trace event's */
	uint32_t event;
};

static void job_do(const struct job *job)
{
	close(job->fd);
	if (job->events)
		trace_event__remove(job->events, job->event);
}

static void *run(void *arg)
{
	struct job job = *(struct job *)arg;

	free(arg);
	job_do(&job);
	pthread_mutex_lock(&job.closer->lock);
	job.closer->busy--;
	pthread_cond_signal(&job.closer->done);
	pthread_mutex_unlock(&job.closer->lock);
	return NULL;
}

int closer__new(struct closer **out)
{
	struct closer *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	if (pthread_attr_init(&c->attr)) {
		free(c);
		return -ENOMEM;
	}
	pthread_attr_setdetachstate(&c->attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&c->attr, STACK_SIZE);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->done, NULL);
	*out = c;
	return 0;
}

/* Whether a thread does it. */
static bool start(const struct job *what)
{
	struct job *job = malloc(sizeof(*job));
	struct closer *c = what->closer;
	pthread_t thread;
	bool started;

	if (!job)
		return false;
	*job = *what;
	pthread_mutex_lock(&c->lock);
	started = c->busy < MAX_THREADS && !pthread_create(&thread, &c->attr, run, job);
	c->busy += started;
	pthread_mutex_unlock(&c->lock);
	if (!started)
		free(job);
	return started;
}

static void close_soon(const struct job *job)
{
	if (!start(job))
		job_do(job);
}

void closer__close(struct closer *c, int fd)
{
	close_soon(&(struct job){.closer = c, .fd = fd});
}

void closer__close_event(struct closer *c, int fd, const struct trace_events *events,
			 uint32_t number)
{
	close_soon(&(struct job){c, fd, events, number});
}

void closer__drain(struct closer *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->busy)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}
