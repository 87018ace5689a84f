// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments in which a target stands still: two children that count as fast as they can. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/links/cpus/near.h"
#include "attach/links/cpus/quiet.h"
#include "util/clock.h"

#define MANY	 1000	 /* probes */
#define WORK_NS	 1000000 /* of ours, in a moment */
#define ATTEMPTS 100	 /* a host may take a CPU away as it is to become busy */

static pid_t children[2];
static uint32_t children_cnt;
static volatile uint64_t *counted;
static struct near target;

static void begin_child(bool counts)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			if (!counts)
				pause();
			++*counted;
		}
	}
	children[children_cnt++] = child;
	target = (struct near){
		.pids = {children[0], children[1]}, .cnt = children_cnt, .all = children_cnt};
}

static void begin_two(void)
{
	begin_child(true);
	begin_child(true);
}

static int setup(void **state)
{
	counted = mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	return counted == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	while (children_cnt) {
		kill(children[--children_cnt], SIGKILL);
		waitpid(children[children_cnt], NULL, 0);
	}
	return munmap((void *)counted, sizeof(*counted));
}

static void wait_for_more(void)
{
	uint64_t before = *counted;

	while (*counted == before)
		usleep(100);
}

/* How far the children get while we work in a moment. */
static uint64_t count_beside(void)
{
	uint64_t until_ns, before, more;

	if (!quiet__is_due(&target, MANY) || !quiet__begin())
		skip(); /* there are too many CPUs, or we may not have real-time priorities */
	before = *counted;
	until_ns = now_ns() + WORK_NS;
	while (now_ns() < until_ns)
		;
	more = *counted - before;
	quiet__end();
	return more;
}

static void stands_still(void **state)
{
	int attempts = 0;

	begin_two();
	wait_for_more();
	while (count_beside() && ++attempts < ATTEMPTS)
		wait_for_more();
	assert_true(attempts < ATTEMPTS);
	wait_for_more(); /* they go on */
}

/* A thread that works may wait for a lock that the target holds, so the target has to go on. */
static void goes_on_while_we_wait(void **state)
{
	begin_two();
	wait_for_more();
	if (!quiet__is_due(&target, MANY) || !quiet__begin())
		skip();
	wait_for_more();
	quiet__end();
}

static void few_probes(void **state)
{
	begin_two();
	wait_for_more();
	assert_false(quiet__is_due(&target, 1));
	target.all = 0; /* there is no target yet */
	assert_false(quiet__is_due(&target, MANY));
}

/* A target with one busy thread is near__go()'s to care for. */
static void one_is_busy(void **state)
{
	begin_child(true);
	wait_for_more();
	assert_false(quiet__is_due(&target, MANY));
}

/* Children that only wait do not stand still: from the second look at its CPU time on they are
 * known to do nothing. */
static void nobody_is_busy(void **state)
{
	begin_child(false);
	begin_child(false);
	while (quiet__is_due(&target, MANY))
		usleep(3000);
}

/* A real-time program that computes without a pause on the first CPU, for ten seconds at most. */
static pid_t begin_hog(void)
{
	const struct sched_param priority = {50};
	char byte = 0;
	int begun[2];
	pid_t child;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	assert_int_equal(pipe(begun), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(10);
		if (sched_setaffinity(0, sizeof(one), &one) ||
		    sched_setscheduler(0, SCHED_FIFO, &priority) || write(begun[1], &byte, 1) != 1)
			_exit(0);
		for (;;)
			++*counted;
	}
	close(begun[1]);
	if (read(begun[0], &byte, 1) != 1)
		skip(); /* we may not have real-time priorities */
	close(begun[0]);
	return child;
}

/* Whether it still computes, so that nothing else could have run on its CPU; ends it. */
static bool end_hog(pid_t hog)
{
	int status = 0;

	kill(hog, SIGKILL);
	waitpid(hog, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* A process that has such threads, or would have; what it says of a target that is busy. */
static pid_t begin_holder(int said)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		char due = quiet__is_due(&target, MANY);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(said, &due, 1) == 1)
			pause();
		_exit(1);
	}
	return child;
}

static void beside_real_time(void **state)
{
	int said[2];
	pid_t hog, holder;
	char due = 1;

	begin_two();
	hog = begin_hog();
	assert_int_equal(pipe(said), 0);
	holder = begin_holder(said[1]);
	assert_int_equal(read(said[0], &due, 1), 1);
	kill(holder, SIGKILL);
	quiet__let_end(holder);
	waitpid(holder, NULL, 0);
	assert_true(end_hog(hog));
	assert_false(due);
}

/* The holder's threads are there before the program that keeps one of them from its CPU. */
static void ends_beside_real_time(void **state)
{
	int said[2];
	pid_t hog, holder;
	char due = 0;

	begin_two();
	assert_int_equal(pipe(said), 0);
	holder = begin_holder(said[1]);
	assert_int_equal(read(said[0], &due, 1), 1);
	hog = begin_hog();
	kill(holder, SIGKILL);
	quiet__let_end(holder);
	waitpid(holder, NULL, 0);
	assert_true(end_hog(hog));
	if (!due)
		skip(); /* there are too many CPUs */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, as who begins such threads does so once, and they do not go with a fork.
		 */
		cmocka_unit_test_setup_teardown(beside_real_time, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_beside_real_time, setup, teardown),
		cmocka_unit_test_setup_teardown(stands_still, setup, teardown),
		cmocka_unit_test_setup_teardown(goes_on_while_we_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(few_probes, setup, teardown),
		cmocka_unit_test_setup_teardown(one_is_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_is_busy, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
