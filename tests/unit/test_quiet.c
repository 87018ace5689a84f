// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments in which a target stands still: a child that counts as fast as it can. */
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

static pid_t child;
static volatile uint64_t *counted;
static struct near target;

static void begin_child(bool counts)
{
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			if (!counts)
				pause();
			++*counted;
		}
	}
	target = (struct near){.pids = {child}, .cnt = 1, .all = 1};
}

static int setup(void **state)
{
	counted = mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	return counted == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	return munmap((void *)counted, sizeof(*counted));
}

static void wait_for_more(void)
{
	uint64_t before = *counted;

	while (*counted == before)
		usleep(100);
}

/* How far the child gets while we work in a moment. */
static uint64_t count_beside(void)
{
	uint64_t until_ns, before, more;

	if (!quiet__begin(&target, MANY))
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

	begin_child(true);
	wait_for_more();
	while (count_beside() && ++attempts < ATTEMPTS)
		wait_for_more();
	assert_true(attempts < ATTEMPTS);
	wait_for_more(); /* it goes on */
}

/* A thread that works may wait for a lock that the target holds, so the target has to go on. */
static void goes_on_while_we_wait(void **state)
{
	begin_child(true);
	wait_for_more();
	if (!quiet__begin(&target, MANY))
		skip();
	wait_for_more();
	quiet__end();
}

static void few_probes(void **state)
{
	begin_child(true);
	wait_for_more();
	assert_false(quiet__begin(&target, 1));
	target.all = 0; /* there is no target yet */
	assert_false(quiet__begin(&target, MANY));
}

/* A child that only waits does not stand still: from the second look at its CPU time on it is known
 * to do nothing. */
static void nobody_is_busy(void **state)
{
	begin_child(false);
	while (quiet__begin(&target, MANY)) {
		quiet__end();
		usleep(3000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stands_still, setup, teardown),
		cmocka_unit_test_setup_teardown(goes_on_while_we_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(few_probes, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_is_busy, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
