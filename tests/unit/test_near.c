// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the target is busy, and working there. Its processes are children, which run, or wait, on
 * CPUs that they have chosen. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/links/cpus/near.h"
#include "target/process.h"

#define MANY 1000 /* probes */

static cpu_set_t before;
static pid_t children[NEAR_PROCESSES];
static size_t children_cnt;
static int first, second; /* CPUs; the same if there is one alone */

static int setup(void **state)
{
	children_cnt = 0;
	if (sched_getaffinity(0, sizeof(before), &before))
		return -1;
	for (first = 0; !CPU_ISSET(first, &before); first++)
		;
	for (second = CPU_SETSIZE - 1; !CPU_ISSET(second, &before); second--)
		;
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < children_cnt; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return sched_setaffinity(0, sizeof(before), &before);
}

static void be_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* A child that is on the CPU, and runs or waits there. */
static void child(int cpu, bool runs, int policy)
{
	const struct sched_param priority = {.sched_priority = policy == SCHED_FIFO};
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_on(cpu);
		byte = !sched_setscheduler(0, policy, &priority);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (volatile uint64_t i = 0;; i++) {
			if (!runs)
				pause();
		}
	}
	children[children_cnt++] = pid;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (!byte)
		skip(); /* may not have that policy */
}

static bool is_one(void)
{
	struct near near = {.cnt = children_cnt};

	for (size_t i = 0; i < children_cnt; i++)
		near.pids[i] = children[i];
	return near__is_one(&near, MANY);
}

static int busy_cpu(void)
{
	struct process_thread busy;

	if (!process__busy_thread(children, children_cnt, &busy))
		return -1;
	assert_int_equal(process__thread_cpu(&busy), busy.cpu);
	return busy.cpu;
}

static void the_one_that_runs(void **state)
{
	child(first, false, SCHED_OTHER);
	child(second, true, SCHED_OTHER);
	assert_int_equal(busy_cpu(), second);
	/* The other one has run, too, if only to get where it waits. Time shows who is busy. */
	while (!is_one())
		usleep(30000);
}

static bool thread_runs(pid_t pid)
{
	return process__thread_runs(&(struct process_thread){pid, pid, 0});
}

/* A thread that waits for a CPU counts as running: two children share one CPU. */
static void what_waits_for_a_cpu_runs(void **state)
{
	child(first, true, SCHED_OTHER);
	child(first, true, SCHED_OTHER);
	child(first, false, SCHED_OTHER);
	while (thread_runs(children[2]))
		sched_yield(); /* until it waits in pause() */
	for (int i = 0; i < 1000; i++)
		assert_true(thread_runs(children[0]) && thread_runs(children[1]));
}

static char *place(pid_t pid, char buf[64])
{
	return process__thread_place(&(struct process_thread){pid, pid, 0}, buf, 64);
}

/* A thread in pause() waits in a function of the kernel such as "__x64_sys_pause"; other kernels
 * name it otherwise. */
static void where_a_thread_waits(void **state)
{
	char buf[64];

	child(first, false, SCHED_OTHER);
	child(second, true, SCHED_OTHER);
	while (thread_runs(children[0]))
		sched_yield(); /* until it waits in pause() */
	assert_non_null(strstr(place(children[0], buf), "pause"));
	assert_string_equal(place(children[1], buf), "");
}

static void two_on_one_cpu(void **state)
{
	child(second, true, SCHED_OTHER);
	child(second, true, SCHED_BATCH);
	assert_int_equal(busy_cpu(), second);
	assert_false(is_one());
}

static void two_on_two_cpus(void **state)
{
	if (first == second)
		skip();
	child(first, true, SCHED_OTHER);
	child(second, true, SCHED_OTHER);
	assert_int_equal(busy_cpu(), -1);
	assert_false(is_one());
}

/* Where it ran last it will run again. */
static void one_that_waits(void **state)
{
	child(second, false, SCHED_OTHER);
	assert_int_equal(busy_cpu(), second);
}

/* A process that works beside such a thread may never get to run. */
static void a_real_time_thread(void **state)
{
	child(second, false, SCHED_FIFO);
	assert_int_equal(busy_cpu(), -1);
}

static void nobody(void **state)
{
	struct process_thread busy;
	pid_t gone = fork();
	char buf[64];

	if (!gone)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	assert_false(process__busy_thread(NULL, 0, &busy));
	assert_false(process__busy_thread(&gone, 1, &busy));
	assert_int_equal(process__thread_cpu(&(struct process_thread){gone, gone, 0}), -1);
	assert_false(thread_runs(gone));
	assert_string_equal(place(gone, buf), "");
}

static bool runs_on(const cpu_set_t *expected)
{
	cpu_set_t now;

	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	return CPU_EQUAL(&now, expected);
}

static void goes_and_leaves(void **state)
{
	struct near near = {.cnt = 1};
	cpu_set_t one;

	child(second, true, SCHED_OTHER);
	near.pids[0] = children[0];
	CPU_ZERO(&one);
	CPU_SET(second, &one);
	near__go(&near, 1);
	assert_true(runs_on(&before));
	near__go(&near, MANY);
	assert_true(runs_on(&one));
	assert_int_equal(sched_getcpu(), second);
	near__leave();
	assert_true(runs_on(&before));
}

static void seeks_nobody(void **state)
{
	near__go(&(struct near){.cnt = 0}, MANY);
	assert_true(runs_on(&before));
	near__leave();
	assert_true(runs_on(&before));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_one_that_runs),    TEST(what_waits_for_a_cpu_runs),
		TEST(where_a_thread_waits), TEST(two_on_one_cpu),
		TEST(two_on_two_cpus),	    TEST(one_that_waits),
		TEST(a_real_time_thread),   TEST(nobody),
		TEST(goes_and_leaves),	    TEST(seeks_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
