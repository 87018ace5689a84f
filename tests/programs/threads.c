// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads [THREADS [CALLS [EARLY]]]: each of THREADS threads makes CALLS calls through the chain
 * a -> b -> c -> d. EARLY of them are there before the profiler comes, the others start after.
 */
#include <pthread.h>
#include "target.h"

struct worker {
	pthread_t thread;
	unsigned long calls;
	unsigned long a_cnt, b_cnt, c_cnt, d_cnt;
};

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_cond = PTHREAD_COND_INITIALIZER;
static int gate_open;

TRACED void d(struct worker *w)
{
	w->d_cnt++;
}

TRACED void c(struct worker *w)
{
	w->c_cnt++;
	d(w);
}

TRACED void b(struct worker *w)
{
	w->b_cnt++;
	c(w);
}

TRACED void a(struct worker *w)
{
	w->a_cnt++;
	b(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&gate_lock);
	while (!gate_open)
		pthread_cond_wait(&gate_cond, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
	for (unsigned long i = 0; i < w->calls; i++)
		a(w);
	return NULL;
}

static void start(struct worker *workers, unsigned long from, unsigned long to, unsigned long calls)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	for (unsigned long i = from; i < to; i++) {
		workers[i].calls = calls;
		if (pthread_create(&workers[i].thread, &attr, work, &workers[i])) {
			perror("pthread_create");
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	int waits = argc > 1 && !strncmp(argv[1], "--", 2);
	unsigned long threads = target_arg(argc, argv, 1 + waits, 1000);
	unsigned long calls = target_arg(argc, argv, 2 + waits, 1000);
	unsigned long early = target_arg(argc, argv, 3 + waits, 0);
	struct worker *workers = calloc(threads, sizeof(*workers)), sum = {0};

	start(workers, 0, early, calls);
	target_begin(&argc, &argv);
	start(workers, early, threads, calls);
	pthread_mutex_lock(&gate_lock);
	gate_open = 1;
	pthread_cond_broadcast(&gate_cond);
	pthread_mutex_unlock(&gate_lock);
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sum.a_cnt += workers[i].a_cnt;
		sum.b_cnt += workers[i].b_cnt;
		sum.c_cnt += workers[i].c_cnt;
		sum.d_cnt += workers[i].d_cnt;
	}
	target_count("a", sum.a_cnt);
	target_count("b", sum.b_cnt);
	target_count("c", sum.c_cnt);
	target_count("d", sum.d_cnt);
	return 0;
}
