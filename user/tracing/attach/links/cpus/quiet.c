// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each CPU has a thread that keeps it busy. One that finds all of them running knows that the
 * thread that works does not, as it would have taken its CPU from one of them. They tell each other
 * by the time at which each ran last.
 */
#include "attach/links/cpus/quiet.h"

#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/links/cpus/near.h"
#include "target/process.h"
#include "util/clock.h"

#define MOST_CPUS  8
#define FEW	   4	     /* probes: beginning a moment takes as long as they do */
#define MOST_NS	   5000000   /* a moment at most */
#define WHOLE_NS   100000000 /* a moment with all its gaps, at most */
#define START_NS   300000    /* for the other CPUs to become busy */
#define GAP_NS	   60000
#define OVER_NS	   1000000   /* from look to look whether the moment is over */
#define FRESH_NS   2000	     /* who ran so short a time ago runs now */
#define COME_NS	   100000000 /* for all threads to run for the first time */
#define STACK_SIZE (64 * 1024)

/* A target that has had less than a twentieth of a CPU since it was looked at last does little. */
#define BUSY	20
#define LOOK_NS 2000000

/* At most PRIVILEGE_REAL_TIME. */
enum { PRIORITY_BUSY = 1, PRIORITY_WORK };

static struct {
	pthread_mutex_t lock; /* held from begin to end */
	pthread_once_t once;
	uint32_t cpus;	    /* that have a thread; 0: there can be no such moments */
	uint32_t come;	    /* threads that have run */
	uint32_t on;	    /* a moment is; what the threads wait for */
	uint64_t until_ns;  /* the threads keep the CPUs busy up to this time; gaps put it off */
	uint64_t whole_ns;  /* gaps do not put it off beyond this time */
	uint64_t gap_to_ns; /* there is a gap up to this time */
	uint64_t ran_ns[MOST_CPUS];
	/* The target, as it was looked at last. */
	bool busy;
	struct near near;
	uint64_t looked_ns, cpu_ns;
	uint64_t (*target_ns)(const void *);
	const void *ctx;
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static uint64_t load(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *value, uint64_t to)
{
	__atomic_store_n(value, to, __ATOMIC_RELEASE);
}

/* How many of the threads are running. */
static uint32_t running(uint64_t at_ns)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < quiet.cpus; i++)
		cnt += at_ns < load(&quiet.ran_ns[i]) + FRESH_NS;
	return cnt;
}

/* Returns when a moment is. */
static void wait_for_moment(uint64_t *own)
{
	while (!__atomic_load_n(&quiet.on, __ATOMIC_ACQUIRE)) {
		store(own, 0);
		syscall(SYS_futex, &quiet.on, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	}
}

/* The thread that works waits for something: the moment is longer by that. */
static uint64_t begin_gap(uint64_t at_ns)
{
	uint64_t until_ns = load(&quiet.until_ns) + GAP_NS, whole_ns = load(&quiet.whole_ns);

	store(&quiet.until_ns, until_ns < whole_ns ? until_ns : whole_ns);
	store(&quiet.gap_to_ns, at_ns + GAP_NS);
	return at_ns + GAP_NS;
}

/* A step of keeping a CPU busy. */
static void be_busy(uint64_t *own)
{
	uint64_t at_ns = now_ns(), gap_to_ns = load(&quiet.gap_to_ns);
	bool over = at_ns >= load(&quiet.until_ns);
	struct timespec pause = {.tv_nsec = over ? OVER_NS : GAP_NS};

	store(own, at_ns);
	if (at_ns >= gap_to_ns && running(at_ns) == quiet.cpus)
		gap_to_ns = begin_gap(at_ns);
	if (at_ns < gap_to_ns || over) {
		store(own, 0);
		nanosleep(&pause, NULL);
	}
}

static void *keep_busy(void *arg)
{
	uint64_t *own = arg;

	__atomic_fetch_add(&quiet.come, 1, __ATOMIC_RELEASE);
	for (;;) {
		wait_for_moment(own);
		be_busy(own);
	}
	return NULL;
}

/* Begins the thread of a CPU. */
static bool begin_thread(int cpu, uint64_t *own)
{
	const struct sched_param priority = {PRIORITY_BUSY};
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t one;
	bool begun;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &priority);
	begun = !pthread_create(&thread, &attr, keep_busy, own);
	pthread_attr_destroy(&attr);
	return begun;
}

/* Whether each thread gets to run. One on the CPU of a real-time program that computes without a
 * pause does not, nor would a thread that works with the next priority, if all CPUs are like that:
 * without a real-time priority the kernel sees to it that each thread runs now and then. */
static bool all_come(void)
{
	const struct timespec pause = {.tv_nsec = GAP_NS};
	uint64_t until_ns = now_ns() + COME_NS;

	while (__atomic_load_n(&quiet.come, __ATOMIC_ACQUIRE) < quiet.cpus) {
		if (now_ns() > until_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void begin_threads(void)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) > MOST_CPUS ||
	    CPU_COUNT(&allowed) != sysconf(_SC_NPROCESSORS_ONLN))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed) && begin_thread(cpu, &quiet.ran_ns[quiet.cpus]))
			quiet.cpus++;
	}
	/* Keeping only some CPUs busy is no use: the target would run on the others. */
	if (quiet.cpus < (uint32_t)CPU_COUNT(&allowed) || !all_come())
		quiet.cpus = 0;
}

static bool set_priority(int policy, int priority)
{
	const struct sched_param param = {priority};

	return !sched_setscheduler(0, policy, &param);
}

void quiet__ask(uint64_t (*ran_ns)(const void *), const void *ctx)
{
	pthread_mutex_lock(&quiet.lock);
	quiet.target_ns = ran_ns;
	quiet.ctx = ctx;
	pthread_mutex_unlock(&quiet.lock);
}

/* The target's CPU time; 0: not known. The lock is held. */
static uint64_t target_ns(const struct near *near)
{
	uint64_t sum = quiet.target_ns ? quiet.target_ns(quiet.ctx) : 0, ns;

	if (sum)
		return sum;
	for (uint32_t i = 0; i < near->cnt; i++)
		sum += process__cpu_ns(near->pids[i], &ns) ? 0 : ns;
	return sum;
}

/* Whether the target is busy. The lock is held. */
static bool is_busy(const struct near *near)
{
	bool same = !memcmp(near, &quiet.near, sizeof(*near));
	uint64_t at_ns = now_ns(), cpu_ns;

	if (same && at_ns < quiet.looked_ns + LOOK_NS)
		return quiet.busy;
	cpu_ns = target_ns(near);
	/* A target that is looked at for the first time counts as busy. */
	quiet.busy = !same || !cpu_ns || cpu_ns > quiet.cpu_ns + (at_ns - quiet.looked_ns) / BUSY;
	quiet.near = *near;
	quiet.looked_ns = at_ns;
	quiet.cpu_ns = cpu_ns;
	return quiet.busy;
}

static void begin(void)
{
	uint64_t at_ns = now_ns();

	store(&quiet.gap_to_ns, 0);
	store(&quiet.whole_ns, at_ns + WHOLE_NS);
	store(&quiet.until_ns, at_ns + MOST_NS);
	__atomic_store_n(&quiet.on, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &quiet.on, FUTEX_WAKE_PRIVATE, MOST_CPUS, NULL, NULL, 0);
	while (running(now_ns()) + 1 < quiet.cpus && now_ns() < at_ns + START_NS)
		;
}

bool quiet__is_due(const struct near *near, size_t probes)
{
	bool due;

	if (probes < FEW || !near->all || near__is_one(near, probes))
		return false;
	pthread_once(&quiet.once, begin_threads);
	if (!quiet.cpus)
		return false;
	pthread_mutex_lock(&quiet.lock);
	due = is_busy(near);
	pthread_mutex_unlock(&quiet.lock);
	return due;
}

bool quiet__begin(void)
{
	pthread_mutex_lock(&quiet.lock);
	if (!set_priority(SCHED_FIFO, PRIORITY_WORK)) {
		pthread_mutex_unlock(&quiet.lock);
		return false;
	}
	begin();
	return true;
}

void quiet__end(void)
{
	__atomic_store_n(&quiet.on, 0, __ATOMIC_RELEASE);
	set_priority(SCHED_OTHER, 0);
	pthread_mutex_unlock(&quiet.lock);
}

void quiet__let_end(pid_t pid)
{
	const struct sched_param none = {0};
	DIR *threads = process__threads(pid);
	cpu_set_t allowed;
	pid_t tid;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		CPU_ZERO(&allowed);
	while ((tid = process__next_thread(threads))) {
		sched_setscheduler(tid, SCHED_OTHER, &none);
		sched_setaffinity(tid, sizeof(allowed), &allowed);
	}
	if (threads)
		closedir(threads);
}
