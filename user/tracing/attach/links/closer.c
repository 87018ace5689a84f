// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/closer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/links/trace_event.h"
#include "util/clock.h"

#define MAX_THREADS  1024
#define STACK_SIZE   (64 * 1024) /* for one system call */
#define NS_PER_S     1000000000ull
#define PROBE_OUT_NS 20000 /* a few times what it takes to have a probe out, with nobody beside */

struct closer {
	pthread_mutex_t lock;
	pthread_cond_t done;  /* a thread */
	pthread_cond_t idle;  /* nobody is closing anything */
	pthread_cond_t go_on; /* turns may come again */
	pthread_attr_t attr;
	unsigned busy;	  /* threads */
	unsigned closing; /* those whose turn has come */
	bool held;	  /* no turn comes */
	uint64_t free_ns; /* when those that were started so far should have their probes out */
};

struct job {
	struct closer *closer;
	int fd;
	const struct trace_events *events; /* NULL: it is no trace event's */
	uint32_t event;
	uint64_t turn_ns; /* it waits no longer than until then */
};

static void job_do(const struct job *job)
{
	close(job->fd);
	if (job->events)
		trace_event__remove(job->events, job->event);
}

/* Waits until the job's turn has come, or nobody is closing anything; and turns may come. */
static void wait_turn(struct closer *c, const struct job *job)
{
	const struct timespec turn = {job->turn_ns / NS_PER_S, job->turn_ns % NS_PER_S};

	while (c->held || (c->closing && now_ns() < job->turn_ns)) {
		if (c->held)
			pthread_cond_wait(&c->go_on, &c->lock);
		else
			pthread_cond_timedwait(&c->idle, &c->lock, &turn);
	}
}

static void *run(void *arg)
{
	struct job job = *(struct job *)arg;
	struct closer *c = job.closer;

	free(arg);
	pthread_mutex_lock(&c->lock);
	wait_turn(c, &job);
	c->closing++;
	pthread_mutex_unlock(&c->lock);
	job_do(&job);
	pthread_mutex_lock(&c->lock);
	if (!--c->closing)
		pthread_cond_signal(&c->idle); /* one that waits is next */
	c->busy--;
	pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int closer__new(struct closer **out)
{
	struct closer *c = calloc(1, sizeof(*c));
	pthread_condattr_t monotonic;

	if (!c)
		return -ENOMEM;
	if (pthread_attr_init(&c->attr)) {
		free(c);
		return -ENOMEM;
	}
	pthread_attr_setdetachstate(&c->attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&c->attr, STACK_SIZE);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c->done, NULL);
	pthread_cond_init(&c->idle, &monotonic);
	pthread_cond_init(&c->go_on, NULL);
	pthread_condattr_destroy(&monotonic);
	*out = c;
	return 0;
}

/* Whether a thread does it. */
static bool start(const struct job *what, uint32_t probes)
{
	struct job *job = malloc(sizeof(*job));
	struct closer *c = what->closer;
	uint64_t now = now_ns();
	pthread_t thread;
	bool started;

	if (!job)
		return false;
	*job = *what;
	pthread_mutex_lock(&c->lock);
	job->turn_ns = c->free_ns > now ? c->free_ns : now;
	c->free_ns = job->turn_ns + (uint64_t)probes * PROBE_OUT_NS;
	/* Sooner than this one would be closed here. */
	while (c->busy >= MAX_THREADS && !c->held)
		pthread_cond_wait(&c->done, &c->lock);
	started = c->busy < MAX_THREADS && !pthread_create(&thread, &c->attr, run, job);
	c->busy += started;
	pthread_mutex_unlock(&c->lock);
	if (!started)
		free(job);
	return started;
}

static void close_soon(const struct job *job, uint32_t probes)
{
	if (!start(job, probes))
		job_do(job);
}

void closer__close(struct closer *c, int fd, uint32_t probes)
{
	close_soon(&(struct job){.closer = c, .fd = fd}, probes);
}

void closer__close_event(struct closer *c, int fd, const struct trace_events *events,
			 uint32_t number, uint32_t probes)
{
	close_soon(&(struct job){.closer = c, .fd = fd, .events = events, .event = number}, probes);
}

void closer__hold(struct closer *c, bool hold)
{
	pthread_mutex_lock(&c->lock);
	c->held = hold;
	pthread_cond_broadcast(&c->go_on);
	pthread_mutex_unlock(&c->lock);
}

void closer__drain(struct closer *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->busy)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}
