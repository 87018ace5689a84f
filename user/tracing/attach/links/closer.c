// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/closer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/links/trace_event.h"
#include "util/clock.h"

#define MAX_THREADS  1024
#define STACK_SIZE   (64 * 1024) /* for one system call */
#define LOOK_NS	     50000	 /* from a look at a thread to the next one */
#define PROBE_OUT_NS 20000 /* a few times what it takes to have a probe out, with nobody beside */

struct job {
	struct job *next;
	struct closer *closer;
	int fd;
	uint32_t probes;
	const struct trace_events *events; /* NULL: it is no trace event's */
	uint32_t event;
};

struct closer {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something of what follows */
	pthread_attr_t attr;
	bool gives_turns;	  /* there is a thread for that */
	struct job *first, **end; /* those whose turn has not come */
	unsigned busy;		  /* threads that are closing one */
	bool held;		  /* no turn may begin */
	bool drained;		  /* somebody waits for all of them */
	const struct job *out;	  /* the one that is taking its probes out; NULL: none */
	pid_t out_tid;		  /* its thread; 0: not known yet */
};

static void job_do(const struct job *job)
{
	close(job->fd);
	if (job->events)
		trace_event__remove(job->events, job->event);
}

static void *run(void *arg)
{
	struct job *job = arg;
	struct closer *c = job->closer;

	pthread_mutex_lock(&c->lock);
	if (c->out == job)
		c->out_tid = syscall(SYS_gettid);
	pthread_mutex_unlock(&c->lock);
	job_do(job);
	pthread_mutex_lock(&c->lock);
	if (c->out == job)
		c->out = NULL;
	c->busy--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	free(job);
	return NULL;
}

/* Whether a thread of ours has its probes out and waits for programs that are still running: the
 * function of the kernel that it sleeps in is __wait_rcu_gp, say. */
static bool waits_for_programs(pid_t tid)
{
	char path[64], function[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/wchan", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, function, sizeof(function) - 1);
	close(fd);
	function[n > 0 ? n : 0] = '\0';
	return strstr(function, "rcu");
}

/* Until the probes are out that are being taken out, or should be. */
static void await_out(struct closer *c, uint64_t until_ns)
{
	const struct timespec step = {.tv_nsec = LOOK_NS};

	while (c->out && !c->drained && now_ns() < until_ns) {
		pid_t tid = c->out_tid;
		bool out;

		pthread_mutex_unlock(&c->lock);
		nanosleep(&step, NULL);
		out = tid && waits_for_programs(tid);
		pthread_mutex_lock(&c->lock);
		if (out)
			break;
	}
	c->out = NULL;
	pthread_cond_broadcast(&c->changed);
}

/* Has the next one closed, and waits until its probes are out. */
static void give_turn(struct closer *c)
{
	struct job *job = c->first;
	const uint64_t until_ns = now_ns() + job->probes * (uint64_t)PROBE_OUT_NS;
	pthread_t thread;

	c->first = job->next;
	if (!c->first)
		c->end = &c->first;
	c->out = job;
	c->out_tid = 0;
	c->busy++;
	if (pthread_create(&thread, &c->attr, run, job)) {
		pthread_mutex_unlock(&c->lock);
		run(job);
		pthread_mutex_lock(&c->lock);
	}
	await_out(c, until_ns);
}

static void *give_turns(void *arg)
{
	struct closer *c = arg;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		if (c->first && !c->held && c->busy < MAX_THREADS)
			give_turn(c);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	return NULL;
}

int closer__new(struct closer **out)
{
	struct closer *c = calloc(1, sizeof(*c));
	pthread_t thread;

	if (!c)
		return -ENOMEM;
	if (pthread_attr_init(&c->attr)) {
		free(c);
		return -ENOMEM;
	}
	pthread_attr_setdetachstate(&c->attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&c->attr, STACK_SIZE);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->end = &c->first;
	c->gives_turns = !pthread_create(&thread, &c->attr, give_turns, c);
	*out = c;
	return 0;
}

static void close_soon(const struct job *what)
{
	struct closer *c = what->closer;
	struct job *job = c->gives_turns ? malloc(sizeof(*job)) : NULL;

	if (!job) {
		job_do(what);
		return;
	}
	*job = *what;
	pthread_mutex_lock(&c->lock);
	*c->end = job;
	c->end = &job->next;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

void closer__close(struct closer *c, int fd, uint32_t probes)
{
	close_soon(&(struct job){.closer = c, .fd = fd, .probes = probes});
}

void closer__close_event(struct closer *c, int fd, const struct trace_events *events,
			 uint32_t number, uint32_t probes)
{
	close_soon(&(struct job){
		.closer = c, .fd = fd, .probes = probes, .events = events, .event = number});
}

void closer__hold(struct closer *c, bool hold)
{
	pthread_mutex_lock(&c->lock);
	c->held = hold;
	pthread_cond_broadcast(&c->changed);
	while (c->held && c->out)
		pthread_cond_wait(&c->changed, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

void closer__drain(struct closer *c)
{
	pthread_mutex_lock(&c->lock);
	c->drained = true;
	while (c->first || c->busy)
		pthread_cond_wait(&c->changed, &c->lock);
	c->drained = false;
	pthread_mutex_unlock(&c->lock);
}
