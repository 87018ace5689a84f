// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread begins the closings, one after the other: the next one when the one before has its
 * probes out. The kernel does not tell when that is, but the closing thread's CPU time does: it
 * grows with each probe that goes, and stands still once the thread waits for grace periods. It
 * does so before the first probe as well, where nobody has held the kernel's lock of all forks
 * (dup_mmap_sem) for a while; so it must have grown. And it does so while the target, or whoever
 * else, has the CPU, or one of the locks that are taken for each probe; so the thread must be
 * waiting for something else.
 */
#include "attach/links/closer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/links/cpus/near.h"
#include "attach/links/cpus/quiet.h"
#include "attach/links/fork_lock.h"
#include "attach/links/trace_event.h"
#include "target/process.h"
#include "util/clock.h"

#define MAX_THREADS 1024
#define STACK_SIZE  (64 * 1024) /* for one system call */

/* How long the CPU time of a closing thread has stood still when its probes are taken to be out:
 * STILL_NS, and STILL_MORE for each probe, as somebody who has the target's memory locked may make
 * a thread wait as well, one that has many probes rather than others; STILL_MOST at most. */
#define STILL_NS   100000
#define STILL_MORE 1000
#define STILL_MOST 1000000
#define LEAST_NS   900 /* CPU time for a probe, until more is known: less than the usual 1.4 us */
#define TELLING	   16  /* probes: of fewer, the time for all else counts too much */
/* How often the closer looks whether the target stands still, and how long it waits for that. */
#define QUIET_NS   30000
#define QUIET_MOST 5000000

/* Wall time after which the next one begins in any case. */
#define OUT_NS	    100000000
#define OUT_MORE_NS 20000 /* for each probe: a few times what it takes with nobody beside */

struct job {
	struct job *next;
	struct closer *closer;
	int fd;
	uint32_t probes;
	bool quiet;			   /* the target stands still for that */
	pid_t tid;			   /* of the thread that does it; 0: that has not run yet */
	const struct trace_events *events; /* NULL: it is no trace event's */
	uint32_t event;
};

struct closer {
	pthread_mutex_t lock;
	pthread_cond_t done;  /* something is */
	pthread_cond_t go_on; /* there are jobs, threads, or turns may come again */
	pthread_attr_t attr;
	struct job *first, **last; /* jobs that have not begun */
	unsigned busy;		   /* jobs, with those */
	unsigned threads;	   /* that close something */
	bool held;		   /* no turn comes */
	struct job *latest;	   /* that has begun, if its probes may still be in; NULL: none */
	struct near near;
	uint64_t least_ns; /* of CPU time that a probe has taken; 0: not known */
};

/* Closes what it is about, and frees the job. */
static void job_do(struct job *job)
{
	uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), ns;
	struct closer *c = job->closer;
	struct near near;

	pthread_mutex_lock(&c->lock);
	near = c->near;
	job->tid = syscall(SYS_gettid);
	pthread_mutex_unlock(&c->lock);
	if (!job->quiet)
		near__go(&near, job->probes);
	close(job->fd);
	if (job->events)
		trace_event__remove(job->events, job->event);
	if (!job->quiet)
		near__leave(); /* a job without a thread of its own is done by others */
	ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	pthread_mutex_lock(&c->lock);
	if (job->probes >= TELLING && (!c->least_ns || ns / job->probes < c->least_ns))
		c->least_ns = ns / job->probes;
	if (c->latest == job)
		c->latest = NULL;
	c->busy--;
	pthread_cond_broadcast(&c->done);
	pthread_mutex_unlock(&c->lock);
	free(job);
}

static void *run(void *arg)
{
	struct job *job = arg;
	struct closer *c = job->closer;

	job_do(job);
	pthread_mutex_lock(&c->lock);
	c->threads--;
	pthread_cond_signal(&c->go_on);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void sleep_unlocked(struct closer *c, uint64_t ns)
{
	const struct timespec t = {.tv_nsec = ns};

	pthread_mutex_unlock(&c->lock);
	nanosleep(&t, NULL);
	pthread_mutex_lock(&c->lock);
}

/* Where a thread waits that has probes to take out yet: for the lock of all forks, or for that of a
 * process's mappings, whose own functions the kernel leaves out. */
static bool is_lock(const char *place)
{
	return strstr(place, "percpu_") || strstr(place, "rwsem") ||
	       strstr(place, "register_for_each_vma");
}

/* Whether the thread of the closing that has begun last waits for something other than a CPU and
 * the locks that it takes for each probe. */
static bool latest_waits(const struct closer *c)
{
	const struct process_thread t = {.pid = getpid(), .tid = c->latest->tid};
	char place[64];

	return t.tid && !process__thread_runs(&t) &&
	       !is_lock(process__thread_place(&t, place, sizeof(place)));
}

static uint64_t at_most(uint64_t ns, uint64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

/* How long a closing's CPU time has to stand still, at `ns`, before its probes count as out. */
static uint64_t still_ns(const struct closer *c, bool quiet, uint64_t probes, uint64_t ns)
{
	/* Nearly what so many have always taken, and nobody else runs who could be waited for. */
	if (quiet && c->least_ns && ns >= probes * c->least_ns * 9 / 10)
		return QUIET_NS;
	return at_most(STILL_NS + probes * STILL_MORE, STILL_MOST);
}

/* Waits until the closing that has begun last, of so many probes, has them out. `clock`: its
 * thread's CPU time; the thread ends after the job has. `quiet`: the target stands still for that,
 * so it is looked at often. */
static void wait_out(struct closer *c, clockid_t clock, uint64_t probes, bool quiet)
{
	uint64_t least_ns = probes * (c->least_ns ? c->least_ns * 2 / 3 : LEAST_NS), ns = 0, now;
	uint64_t at_ns = now_ns(), since_ns = at_ns,
		 until_ns = at_ns + OUT_NS + probes * OUT_MORE_NS;

	if (quiet)
		sleep_unlocked(c, at_most(least_ns, QUIET_MOST));
	for (; c->latest && probes && at_ns < until_ns; at_ns = now_ns()) {
		now = clock_ns(clock);
		if (now != ns)
			since_ns = at_ns;
		else if (ns >= least_ns && at_ns >= since_ns + still_ns(c, quiet, probes, ns) &&
			 latest_waits(c))
			break;
		ns = now;
		sleep_unlocked(c, quiet ? QUIET_NS : still_ns(c, quiet, probes, ns));
	}
	c->latest = NULL;
	pthread_cond_broadcast(&c->done);
}

/* Begins what is to be closed; here and now, if there can be no thread for it. */
static void *begin_all(void *arg)
{
	struct closer *c = arg;
	clockid_t clock;
	pthread_t thread;
	uint32_t probes;
	struct job *job;
	bool quiet;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->first || c->held || c->threads == MAX_THREADS)
			pthread_cond_wait(&c->go_on, &c->lock);
		job = c->latest = c->first;
		probes = job->probes;
		c->first = job->next;
		if (!c->first)
			c->last = &c->first;
		job->quiet = quiet__is_due(&c->near, probes) && quiet__begin();
		quiet = job->quiet;
		if (pthread_create(&thread, &c->attr, run, job)) {
			pthread_mutex_unlock(&c->lock);
			if (quiet)
				quiet__end();
			job->quiet = false;
			job_do(job);
			pthread_mutex_lock(&c->lock);
			continue;
		}
		c->threads++;
		/* The thread cannot end before we release the lock. */
		if (pthread_getcpuclockid(thread, &clock))
			c->latest = NULL;
		wait_out(c, clock, probes, quiet);
		fork_lock__used();
		if (quiet)
			quiet__end();
	}
	return NULL;
}

int closer__new(struct closer **out)
{
	struct closer *c = calloc(1, sizeof(*c));
	pthread_t thread;
	int err;

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
	pthread_cond_init(&c->go_on, NULL);
	c->last = &c->first;
	err = -pthread_create(&thread, &c->attr, begin_all, c);
	if (err) {
		pthread_attr_destroy(&c->attr);
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

static void close_soon(struct closer *c, const struct job *what)
{
	struct job *job = malloc(sizeof(*job));

	if (!job) {
		close(what->fd);
		if (what->events)
			trace_event__remove(what->events, what->event);
		return;
	}
	*job = *what;
	job->closer = c;
	pthread_mutex_lock(&c->lock);
	*c->last = job;
	c->last = &job->next;
	c->busy++;
	pthread_cond_signal(&c->go_on);
	pthread_mutex_unlock(&c->lock);
}

void closer__close(struct closer *c, int fd, uint32_t probes)
{
	close_soon(c, &(struct job){.fd = fd, .probes = probes});
}

void closer__close_event(struct closer *c, int fd, const struct trace_events *events,
			 uint32_t number, uint32_t probes)
{
	close_soon(c, &(struct job){.fd = fd, .events = events, .event = number, .probes = probes});
}

void closer__be_near(struct closer *c, const struct near *near)
{
	pthread_mutex_lock(&c->lock);
	c->near = *near;
	pthread_mutex_unlock(&c->lock);
}

void closer__hold(struct closer *c, bool hold)
{
	pthread_mutex_lock(&c->lock);
	c->held = hold;
	pthread_cond_signal(&c->go_on);
	pthread_mutex_unlock(&c->lock);
}

void closer__settle(struct closer *c)
{
	pthread_mutex_lock(&c->lock);
	while ((c->first && !c->held) || c->latest)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

void closer__drain(struct closer *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->busy)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}
