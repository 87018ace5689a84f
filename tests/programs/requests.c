// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * requests [THREADS [REQUESTS [TASKS [SLOW_US]]]]: a server of THREADS threads, each of which
 * handles REQUESTS requests, one in ten of which sleeps for SLOW_US (1000). Each request submits
 * TASKS tasks to a pool of four workers, and does not wait for them; each tenth task submits one
 * more. Says of each request, "REQUEST tid INNER OUTER TASKS" in each thread's order, how long it
 * took at least (as seen from inside of its functions) and at most (from outside) until the last of
 * its tasks had ended.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include "target.h"

#define WORKERS 4

struct moment {
	uint64_t inner_ns, outer_ns;
};

struct request {
	int slow;
	unsigned long tasks_cnt;
	struct moment begin, end;
};

struct task {
	struct task *next;
	struct request *request;
	uint64_t number;
	struct moment end;
};

struct server {
	pthread_t thread;
	long tid;
	struct request *requests;
};

static unsigned long threads, requests, tasks, slow_us;
static struct task *all_tasks;
static uint64_t tasks_cnt, tasks_done;
static struct task *first, **last = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t waiting = PTHREAD_COND_INITIALIZER;
static int closed;
static unsigned long handled;
static volatile unsigned int sink;

static void spin(unsigned int times)
{
	while (times--)
		sink++;
}

/* The key is the first argument, a number of the task's own. */
TRACED void submit(uint64_t number, struct task *t)
{
	pthread_mutex_lock(&lock);
	t->next = NULL;
	*last = t;
	last = &t->next;
	pthread_cond_signal(&waiting);
	pthread_mutex_unlock(&lock);
}

static void new_task(struct request *r)
{
	uint64_t number = __atomic_fetch_add(&tasks_cnt, 1, __ATOMIC_RELAXED);
	struct task *t = &all_tasks[number];

	t->request = r;
	t->number = number;
	submit(number, t);
}

TRACED void run(struct task *t, uint64_t number)
{
	spin(100);
	if (number % 10 == 0 && number < threads * requests * tasks)
		new_task(t->request);
	t->end.inner_ns = target_now_ns();
}

TRACED void parse(struct request *r)
{
	spin(200);
}

TRACED void look_up(struct request *r)
{
	if (r->slow)
		usleep(slow_us);
	spin(300);
}

TRACED void handle(struct request *r)
{
	r->begin.inner_ns = target_now_ns();
	parse(r);
	look_up(r);
	for (unsigned long i = 0; i < tasks; i++)
		new_task(r);
	r->end.inner_ns = target_now_ns();
}

static void *serve(void *arg)
{
	struct server *s = arg;

	s->tid = syscall(SYS_gettid);
	for (unsigned long i = 0; i < requests; i++) {
		struct request *r = &s->requests[i];

		r->slow = i % 10 == 3;
		r->begin.outer_ns = target_now_ns();
		handle(r);
		r->end.outer_ns = target_now_ns();
		__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct task *t = first;

		if (!t && closed)
			break;
		if (!t) {
			pthread_cond_wait(&waiting, &lock);
			continue;
		}
		first = t->next;
		if (!first)
			last = &first;
		pthread_mutex_unlock(&lock);
		run(t, t->number);
		t->end.outer_ns = target_now_ns();
		pthread_mutex_lock(&lock);
		tasks_done++;
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* A request lasts as long as the last of its tasks. */
static void end_tasks(void)
{
	for (uint64_t i = 0; i < tasks_cnt; i++) {
		const struct task *t = &all_tasks[i];
		struct request *r = t->request;

		r->tasks_cnt++;
		if (r->end.inner_ns < t->end.inner_ns)
			r->end.inner_ns = t->end.inner_ns;
		if (r->end.outer_ns < t->end.outer_ns)
			r->end.outer_ns = t->end.outer_ns;
	}
}

static void print_requests(const struct server *servers)
{
	for (unsigned long i = 0; i < threads; i++) {
		for (unsigned long n = 0; n < requests; n++) {
			const struct request *r = &servers[i].requests[n];

			printf("REQUEST %ld %llu %llu %lu\n", servers[i].tid,
			       (unsigned long long)(r->end.inner_ns - r->begin.inner_ns),
			       (unsigned long long)(r->end.outer_ns - r->begin.outer_ns),
			       r->tasks_cnt);
		}
	}
}

static void start(pthread_t *thread, void *(*function)(void *), void *arg)
{
	if (pthread_create(thread, NULL, function, arg)) {
		perror("pthread_create");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	pthread_t workers[WORKERS];
	struct server *servers;

	target_begin(&argc, &argv);
	threads = target_arg(argc, argv, 1, 8);
	requests = target_arg(argc, argv, 2, 100);
	tasks = target_arg(argc, argv, 3, 0);
	slow_us = target_arg(argc, argv, 4, 1000);
	servers = calloc(threads, sizeof(*servers));
	all_tasks = calloc(threads * requests * tasks * 2 + 1, sizeof(*all_tasks));
	for (int i = 0; i < WORKERS; i++)
		start(&workers[i], work, NULL);
	for (unsigned long i = 0; i < threads; i++) {
		servers[i].requests = calloc(requests, sizeof(*servers[i].requests));
		start(&servers[i].thread, serve, &servers[i]);
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(servers[i].thread, NULL);
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&waiting);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	end_tasks();
	print_requests(servers);
	target_count("handle", handled);
	target_count("submit", tasks_cnt);
	target_count("run", tasks_done);
	return 0;
}
