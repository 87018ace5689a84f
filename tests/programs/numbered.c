// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numbered [PROCESSES [THREADS]]: calls `work` in PROCESSES processes, in each once by the first
 * thread and ten times by each of THREADS others, which are called worker-1, worker-2 and so on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include "target.h"

#define TIMES 10

TRACED void work(void)
{
}

static void *work_numbered(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%lu", *(unsigned long *)arg);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < TIMES; i++)
		work();
	return NULL;
}

static void run_process(unsigned long threads)
{
	work();
	for (unsigned long i = 1; i <= threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work_numbered, &i) || pthread_join(thread, NULL))
			exit(1);
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long processes = target_arg(argc, argv, 1, 2);
	unsigned long threads = target_arg(argc, argv, 2, 3);
	int status, failed = 0;

	for (unsigned long i = 1; i < processes; i++) {
		pid_t pid = fork();

		if (!pid) {
			run_process(threads);
			_exit(0);
		}
		failed |= pid < 0 || waitpid(pid, &status, 0) < 0 || status;
	}
	run_process(threads);
	target_count("work", processes * (1 + TIMES * threads));
	return failed;
}
