// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/threads.h"

#include <pthread.h>
#include <sched.h>

struct thread {
	pthread_t id;
	void (*run)(void *element);
	void *element;
};

size_t threads__for(size_t items, size_t least)
{
	cpu_set_t set;
	/* On more than 1024 processors the set is too small: then all are there. */
	size_t cpus = sched_getaffinity(0, sizeof(set), &set) ? THREADS_MAX : CPU_COUNT(&set);
	size_t cnt = items / least + 1;

	cnt = cnt < cpus ? cnt : cpus;
	return cnt < THREADS_MAX ? cnt : THREADS_MAX;
}

static void *begin(void *arg)
{
	struct thread *t = arg;

	t->run(t->element);
	return NULL;
}

void threads__run(void *elements, size_t cnt, size_t size, void (*run)(void *element))
{
	struct thread threads[THREADS_MAX];
	size_t started = 0;

	for (; started + 1 < cnt && started < THREADS_MAX; started++) {
		threads[started] =
			(struct thread){.run = run, .element = (char *)elements + started * size};
		if (pthread_create(&threads[started].id, NULL, begin, &threads[started]))
			break;
	}
	for (size_t i = started; i < cnt; i++)
		run((char *)elements + i * size);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i].id, NULL);
}
