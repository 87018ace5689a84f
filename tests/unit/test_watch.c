// SPDX-License-Identifier: GPL-2.0-or-later
/* The clock of a run: intervals, the first of which may be shorter. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/watch.h"
#include "target/target.h"
#include "util/clock.h"

#define MS   1000000ull
#define HOUR (3600ull * 1000 * MS)

static struct watch *watch;
static const struct target nobody;
static const struct watch_fds no_fds = {.out = -1, .life = -1, .link_holder = -1, .keys = -1};

static int setup(void **state)
{
	return watch__new(false, &watch);
}

static int teardown(void **state)
{
	watch__free(watch);
	return 0;
}

/* When the next interval has passed, ns after `began_ns`. */
static uint64_t next_interval_ns(uint64_t began_ns)
{
	while (watch__next(watch) != WATCH_INTERVAL)
		;
	return now_ns() - began_ns;
}

static void the_first_may_be_shorter(void **state)
{
	const struct watch_times times = {.first_ns = 1 * MS, .interval_ns = HOUR};

	assert_int_equal(watch__start(watch, &nobody, &no_fds, &times), 0);
	next_interval_ns(0); /* or the test would take an hour */
}

static void all_are_as_long(void **state)
{
	const struct watch_times times = {.interval_ns = 20 * MS};
	uint64_t began_ns = now_ns();

	assert_int_equal(watch__start(watch, &nobody, &no_fds, &times), 0);
	assert_true(next_interval_ns(began_ns) >= 20 * MS);
	assert_true(next_interval_ns(began_ns) >= 40 * MS);
}

/* The others follow at their own pace. */
static void the_second_is_whole(void **state)
{
	const struct watch_times times = {.first_ns = 1 * MS, .interval_ns = 20 * MS};
	uint64_t began_ns = now_ns();

	assert_int_equal(watch__start(watch, &nobody, &no_fds, &times), 0);
	assert_true(next_interval_ns(began_ns) >= 1 * MS);
	assert_true(next_interval_ns(began_ns) >= 21 * MS);
}

static void the_first_begins_with_the_command(void **state)
{
	assert_int_equal(watch__first_interval(1000 * MS, 0), 1000 * MS);
	assert_int_equal(watch__first_interval(1000 * MS, 400 * MS), 600 * MS);
	assert_int_equal(watch__first_interval(1000 * MS, 749 * MS), 251 * MS);
	/* An interval must have something to tell. */
	assert_int_equal(watch__first_interval(1000 * MS, 751 * MS), 250 * MS);
	assert_int_equal(watch__first_interval(1000 * MS, HOUR), 250 * MS);
	assert_int_equal(watch__first_interval(0, HOUR), 0); /* no intervals */
}

/* The signal that ends a process which asks for its end by two of them; 0: none does. */
static int ended_by(bool supervised, uint64_t apart_ns)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		const struct timespec pause = {.tv_nsec = apart_ns};

		if (watch__new(supervised, &watch))
			_exit(1);
		watch__end_in_order();
		raise(SIGINT);
		nanosleep(&pause, NULL);
		raise(SIGTERM);
		_exit(watch__start(watch, &nobody, &no_fds, &(struct watch_times){0}) ||
		      watch__next(watch) != WATCH_SIGNAL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || !WEXITSTATUS(status));
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void the_second_signal_ends_us(void **state)
{
	assert_int_equal(ended_by(false, 200 * MS), SIGTERM);
	assert_int_equal(ended_by(true, 200 * MS), 0);
}

/* As timeout(1) sends them, to its child and to their process group. */
static void signals_at_once_are_one_request(void **state)
{
	assert_int_equal(ended_by(false, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_may_be_shorter, setup, teardown),
		cmocka_unit_test_setup_teardown(all_are_as_long, setup, teardown),
		cmocka_unit_test_setup_teardown(the_second_is_whole, setup, teardown),
		cmocka_unit_test(the_first_begins_with_the_command),
		cmocka_unit_test(the_second_signal_ends_us),
		cmocka_unit_test(signals_at_once_are_one_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
