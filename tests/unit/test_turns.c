// SPDX-License-Identifier: GPL-2.0-or-later
/* Charges of looks at dropped functions, and when the next one is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "attach/life.h"
#include "attach/tracer.h"
#include "looks/turns.h"

#define MS	1000000ull
#define THREADS (50 * MS) /* more CPU time than this test takes */

/* The link holder, and the children of the target. */
static struct {
	uint64_t making_ns;
	uint32_t children;
} world;

uint64_t tracer__making_ns(const struct tracer *tr)
{
	return world.making_ns;
}

struct life *tracer__life(const struct tracer *tr)
{
	return NULL;
}

void life__counts(const struct life *l, struct life_counts *out)
{
	*out = (struct life_counts){.followed = world.children};
}

static int set_up(void **state)
{
	memset(&world, 0, sizeof(world));
	return 0;
}

/* Links that others have made before the look, or make after, are not the look's. */
static void own_links_are_charged(void **state)
{
	struct turns t = {.share = 0.01};
	struct look look;

	world.making_ns = 500 * MS;
	look = look__begin(NULL, 0);
	world.making_ns += 100 * MS;
	look__made(&look, NULL);
	world.making_ns += 700 * MS;
	look.cost_ns = 10 * MS;
	turns__pause_ns(&t, NULL, &look);
	/* 10 ms of calls; 100 ms of links there, as much back, and others wait as long. */
	assert_true(t.cost_ns >= 410 * MS && t.cost_ns < 410 * MS + THREADS);
	assert_int_equal(t.cnt, 1);
}

static void a_link_holder_that_is_killed(void **state)
{
	struct turns t = {.share = 0.01};
	struct look look;

	world.making_ns = 500 * MS;
	look = look__begin(NULL, 0);
	world.making_ns = 0;
	look__made(&look, NULL);
	turns__pause_ns(&t, NULL, &look);
	assert_true(t.cost_ns < THREADS);
}

static void looks_are_due_by_their_average(void **state)
{
	struct turns t = {.share = 0.01, .cost_ns = 30 * MS, .cnt = 3};
	struct turns_seen seen;

	turns__start(&seen, NULL);
	assert_true(turns__usual_ns(&t) == 1000.0 * MS);
	assert_true(turns__due(&t, &seen, NULL, 0, 0, 100));
	t.next_ran_ns = 1000 * MS;
	assert_false(turns__due(&t, &seen, NULL, 999 * MS, 0, 100));
	assert_true(turns__due(&t, &seen, NULL, 1000 * MS, 0, 100));
	t.next_ns = 1;
	assert_false(turns__due(&t, &seen, NULL, 1000 * MS, 0, 100));
}

/* A process that forks waits while probes come and go, so such a target has to run first. */
static void a_target_that_forks_runs_first(void **state)
{
	struct turns t = {.share = 0.01};
	struct turns_seen seen;

	turns__start(&seen, NULL);
	assert_true(turns__due(&t, &seen, NULL, 0, 0, 100));
	world.children = 10;
	assert_false(turns__forks(&seen, NULL));
	assert_false(turns__due(&t, &seen, NULL, 0, 0, 100));
	assert_true(turns__due(&t, &seen, NULL, 500 * MS, 0, 100)); /* 100 times 50 us */
	world.children = 40;
	assert_true(turns__forks(&seen, NULL));
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_links_are_charged),
		TEST(a_link_holder_that_is_killed),
		TEST(looks_are_due_by_their_average),
		TEST(a_target_that_forks_runs_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
