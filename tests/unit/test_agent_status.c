// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's status: CPU time of the processes that the agent has begun. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/state.h"
#include "agent/status.h"

#define BUSY_NS 300000000ull

static void *be_busy(void *arg)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while ((uint64_t)used.tv_sec * 1000000000ull + (uint64_t)used.tv_nsec < BUSY_NS);
	return arg;
}

/* A process whose second thread has had BUSY_NS of CPU time. */
static pid_t begin_busy(void)
{
	pthread_t thread;
	int ready[2];
	char done;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (pthread_create(&thread, NULL, be_busy, NULL) || pthread_join(thread, NULL) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &done, 1), 1);
	close(ready[0]);
	return pid;
}

/* Runs plan in several threads, and link holders close links in some. */
static void counts_all_threads(void **state)
{
	struct service service = {.run = {.pid = begin_busy()}};
	struct agent a = {.services = &service};
	uint64_t without_ns;

	status__measure(&a, 0);
	without_ns = a.cpu_ns;
	a.services_cnt = 1;
	status__measure(&a, 0);
	kill(service.run.pid, SIGKILL);
	waitpid(service.run.pid, NULL, 0);
	assert_true(a.cpu_ns - without_ns >= BUSY_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_all_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
