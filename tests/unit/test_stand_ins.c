// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that stand for all processes of a target. The target is made up here, and its clocks go
 * on as they are told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "looks/stand_ins.h"
#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"

#define PROCESSES 4
#define GONE	  (PROCESSES - 1) /* has ended where a test says so */

static uint64_t clocks[PROCESSES], each_time[PROCESSES]; /* what a process runs from look to look */
static bool gone;
static struct target_process processes[PROCESSES];
static uint32_t everyone[PROCESSES] = {0, 1, 2, 3}, last_two[] = {2, 3};
static struct target_object objects[2];
static struct target target;
static struct plan_function functions[2];
static struct plan plan;
static struct stand_ins chosen;

int process__cpu_ns(pid_t pid, uint64_t *ns)
{
	uint32_t process = pid - 1000;

	if (gone && process == GONE)
		return -ESRCH;
	*ns = clocks[process];
	clocks[process] += each_time[process];
	return 0;
}

static int setup(void **state)
{
	gone = false;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		processes[i] = (struct target_process){.pid = 1000 + i};
		clocks[i] = 5000;
		each_time[i] = 0;
	}
	objects[0] = (struct target_object){.processes = everyone, .processes_cnt = PROCESSES};
	objects[1] = (struct target_object){.processes = last_two, .processes_cnt = 2};
	target = (struct target){.processes = processes,
				 .processes_cnt = PROCESSES,
				 .objects = objects,
				 .objects_cnt = 2};
	functions[0] = (struct plan_function){.object = 0};
	functions[1] = (struct plan_function){.object = 1};
	plan = (struct plan){.functions = functions, .functions_cnt = 1};
	return 0;
}

static int teardown(void **state)
{
	stand_ins__clear(&chosen);
	return 0;
}

static void assert_chosen(bool first, bool second, bool third, bool fourth)
{
	assert_non_null(chosen.chosen);
	assert_int_equal(chosen.chosen[0], first);
	assert_int_equal(chosen.chosen[1], second);
	assert_int_equal(chosen.chosen[2], third);
	assert_int_equal(chosen.chosen[3], fourth);
}

static void the_busiest(void **state)
{
	uint64_t ran_ns;

	each_time[1] = 3000;
	each_time[2] = 4000;
	assert_int_equal(stand_ins__choose(&chosen, &plan, &target, &ran_ns), 0);
	assert_int_equal(ran_ns, 7000);
	assert_chosen(false, false, true, false);
	assert_int_equal(stand_ins__cpu_ns(&chosen), 13000);
	clocks[2] = 14000;
	assert_int_equal(stand_ins__cpu_ns(&chosen), 14000);
	clocks[2] = 70; /* it has ended, say */
	assert_int_equal(stand_ins__cpu_ns(&chosen), 14000);
}

/* Each file has somebody who maps it. */
static void of_each_file(void **state)
{
	uint64_t ran_ns;

	plan.functions_cnt = 2;
	each_time[0] = 3000;
	each_time[3] = 1000;
	assert_int_equal(stand_ins__choose(&chosen, &plan, &target, &ran_ns), 0);
	assert_chosen(true, false, false, true);
}

static void nobody_where_none_runs(void **state)
{
	uint64_t ran_ns;

	assert_int_equal(stand_ins__choose(&chosen, &plan, &target, &ran_ns), 0);
	assert_int_equal(ran_ns, 0);
	assert_null(chosen.chosen);
	assert_int_equal(stand_ins__cpu_ns(&chosen), 0);
}

static void nobody_where_there_is_one(void **state)
{
	uint64_t ran_ns;

	target.processes_cnt = 1;
	each_time[0] = 1000;
	assert_int_equal(stand_ins__choose(&chosen, &plan, &target, &ran_ns), 0);
	assert_null(chosen.chosen);
	assert_false(stand_ins__suit(&plan, &target));
}

static void who_suits(void **state)
{
	assert_true(stand_ins__suit(&plan, &target));
	plan.functions_cnt = 2;
	assert_false(stand_ins__suit(&plan, &target)); /* two of them have the other file */
}

/* By what each has run since the last time: a quarter, and three quarters. */
static void drawn_by_shares(void **state)
{
	uint64_t before_ns[PROCESSES] = {4000, 5000, 2000, 5000};
	const uint64_t none_ns[PROCESSES] = {5000, 5000, 5000, 5000};

	assert_int_equal(stand_ins__draw(&chosen, &target, before_ns, 4000, 0.24), 0);
	assert_chosen(true, false, false, false);
	assert_memory_equal(before_ns, none_ns, sizeof(none_ns));
	stand_ins__clear(&chosen);
	before_ns[0] = 4000;
	before_ns[2] = 2000;
	assert_int_equal(stand_ins__draw(&chosen, &target, before_ns, 4000, 0.26), 0);
	assert_chosen(false, false, true, false);
}

/* If other processes run as well, such as children, all of them are looked at. */
static void where_others_run_as_well(void **state)
{
	uint64_t before_ns[PROCESSES] = {4000, 5000, 5000, 5000};

	assert_int_equal(stand_ins__draw(&chosen, &target, before_ns, 2001, 0.5), 0);
	assert_non_null(chosen.chosen);
	stand_ins__clear(&chosen);
	before_ns[0] = 4000;
	assert_int_equal(stand_ins__draw(&chosen, &target, before_ns, 2002, 0.5), 0);
	assert_null(chosen.chosen);
}

static void one_that_has_ended(void **state)
{
	uint64_t before_ns[PROCESSES] = {0, 0, 0, 0};

	gone = true;
	assert_int_equal(stand_ins__draw(&chosen, &target, before_ns, 0, 0.9999), 0);
	assert_chosen(false, false, true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_busiest, setup, teardown),
		cmocka_unit_test_setup_teardown(of_each_file, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_where_none_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_where_there_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(who_suits, setup, teardown),
		cmocka_unit_test_setup_teardown(drawn_by_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(where_others_run_as_well, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_has_ended, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
