// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of mappings, and which of them count as planned. The programs' data is made up here. */
#include "fixture.h"

#include "attach/life.c"

static struct proftrace_bpf__bss bss;
static struct proftrace_bpf__data_written written;
static struct proftrace_bpf skel = {.bss = &bss, .data_written = &written};
static struct life life;

static int start(void **state)
{
	bss.maps_planned = 0;
	life = (struct life){.skel = &skel};
	return 0;
}

static void test_in_order(void **state)
{
	life__done(&life, 1);
	life__done(&life, 2);
	assert_int_equal(bss.maps_planned, 2);
	assert_false(life__lost_track(&life));
}

static void test_gaps_wait(void **state)
{
	life__done(&life, 3);
	life__done(&life, 2);
	assert_int_equal(bss.maps_planned, 0);
	life__done(&life, 1);
	assert_int_equal(bss.maps_planned, 3);
	assert_false(life__lost_track(&life));
}

/* A look at everything covers changes whose events are read later. */
static void test_events_that_come_late(void **state)
{
	life__caught_up(&life, 5);
	life__done(&life, 4);
	life__done(&life, 5);
	assert_int_equal(bss.maps_planned, 5);
	assert_false(life__lost_track(&life));
	life__done(&life, 6);
	assert_int_equal(bss.maps_planned, 6);
}

static void test_numbers_start_again(void **state)
{
	life__caught_up(&life, UINT32_MAX - 1);
	life__done(&life, 0);
	life__done(&life, UINT32_MAX);
	assert_int_equal(bss.maps_planned, 0);
	assert_false(life__lost_track(&life));
}

static void test_too_far_ahead(void **state)
{
	life__done(&life, WINDOW);
	assert_false(life__lost_track(&life));
	life__done(&life, WINDOW + 1);
	assert_true(life__lost_track(&life));
	assert_int_equal(bss.maps_planned, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_in_order, start),
		cmocka_unit_test_setup(test_gaps_wait, start),
		cmocka_unit_test_setup(test_events_that_come_late, start),
		cmocka_unit_test_setup(test_numbers_start_again, start),
		cmocka_unit_test_setup(test_too_far_ahead, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
