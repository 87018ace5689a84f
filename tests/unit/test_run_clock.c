// SPDX-License-Identifier: GPL-2.0-or-later
/* The target's own clock, and what it reads and writes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "attach/tracer.h"
#include "looks/run_clock.h"

static struct moment target;

uint64_t tracer__ran_ns(const struct tracer *tr)
{
	return target.ran_ns;
}

struct tracer_io tracer__io(struct tracer *tr)
{
	return target.io;
}

static void go_on(uint64_t ns)
{
	target.ran_ns += ns;
	target.io.reads += ns / 10;
	target.io.writes += ns / 20;
}

/* Until reads and writes are asked for anew. */
static void wait_until_stale(void)
{
	nanosleep(&(const struct timespec){.tv_nsec = 2000000}, NULL);
}

static void off_and_on(void **state)
{
	struct run_clock c = {0};
	struct moment now;

	go_on(5000);
	run_clock__start(&c, NULL);
	go_on(1000);
	run_clock__off(&c);
	go_on(300);
	assert_int_equal(run_clock__ran_ns(&c), 1000);
	now = run_clock__now(&c);
	assert_int_equal(now.ran_ns, 1000);
	assert_int_equal(now.io.reads, 100);
	run_clock__on(&c);
	go_on(2000);
	wait_until_stale();
	now = run_clock__now(&c);
	assert_int_equal(run_clock__ran_ns(&c), 3000);
	assert_int_equal(now.ran_ns, 3000);
	assert_int_equal(now.io.reads, 300);
	assert_int_equal(now.io.writes, 150);
}

static void balanced(void **state)
{
	const struct tracer_io run = {10000, 5000}, reads = {10000, 100}, none = {0, 0};

	assert_true(tracer_io__balanced(&(const struct tracer_io){100, 50}, &run));
	assert_true(tracer_io__balanced(&(const struct tracer_io){101, 50}, &run));
	assert_false(tracer_io__balanced(&(const struct tracer_io){100, 40}, &run));
	assert_false(tracer_io__balanced(&(const struct tracer_io){50, 0}, &run));
	/* A target that hardly writes may do so at any part of its turn. */
	assert_true(tracer_io__balanced(&(const struct tracer_io){50, 0}, &reads));
	assert_true(tracer_io__balanced(&none, &none));
}

static double unbalanced_by(struct tracer_io look, struct tracer_io run)
{
	return tracer_io__unbalanced(&look, &run);
}

static void unbalanced(void **state)
{
	const struct tracer_io run = {10000, 5000}, reads = {10000, 100}, none = {0, 0};

	assert_true(fabs(unbalanced_by((struct tracer_io){200, 100}, run)) < 0.01);
	assert_true(fabs(unbalanced_by((struct tracer_io){200, 50}, run) - 0.69) < 0.02);
	assert_true(fabs(unbalanced_by((struct tracer_io){100, 100}, run) + 0.69) < 0.02);
	assert_true(unbalanced_by((struct tracer_io){50, 0}, run) > 3);
	assert_true(unbalanced_by((struct tracer_io){50, 0}, reads) == 0);
	assert_true(unbalanced_by(none, none) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_and_on),
		cmocka_unit_test(unbalanced),
		cmocka_unit_test(balanced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
