// SPDX-License-Identifier: GPL-2.0-or-later
/* Closing in the background: what has been handed over is closed once the closer has been drained.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/links/closer.h"

#define MANY 500

static struct closer *closer;

static int setup(void **state)
{
	return closer ? 0 : closer__new(&closer);
}

static void close_many(void)
{
	int fds[MANY];

	for (int i = 0; i < MANY; i++) {
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		assert_true(fds[i] >= 0);
	}
	for (int i = 0; i < MANY; i++)
		closer__close(closer, fds[i], i & 1 ? 1 : 1 << 20);
	closer__drain(closer);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
		assert_int_equal(errno, EBADF);
	}
}

static void all_are_closed(void **state)
{
	closer__drain(closer); /* nothing to wait for */
	close_many();
	close_many();
}

/* Soon, whether somebody waits for it or not. */
static void the_other_end_sees_it(void **state)
{
	int ends[2];
	char c;

	assert_int_equal(pipe(ends), 0);
	closer__close(closer, ends[1], 1);
	assert_int_equal(read(ends[0], &c, 1), 0); /* its end, without drain */
	close(ends[0]);
	closer__drain(closer);
}

/* As long as closing is put off, nothing is closed. */
static void on_hold(void **state)
{
	int ends[2];
	char c;

	assert_int_equal(pipe(ends), 0);
	closer__hold(closer, true);
	closer__close(closer, ends[1], 1);
	assert_int_not_equal(fcntl(ends[1], F_GETFD), -1);
	closer__hold(closer, false);
	assert_int_equal(read(ends[0], &c, 1), 0);
	close(ends[0]);
	closer__drain(closer);
}

#ifndef __SANITIZE_ADDRESS__ /* which ends the process itself then */
/* Without memory for threads it is done all the same. The first test: stacks are kept. */
static void without_threads(void **state)
{
	struct rlimit before, none;

	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){1, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	close_many();
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test_setup(without_threads, setup),
#endif
		cmocka_unit_test_setup(all_are_closed, setup),
		cmocka_unit_test_setup(the_other_end_sees_it, setup),
		cmocka_unit_test_setup(on_hold, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
