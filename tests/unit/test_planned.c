// SPDX-License-Identifier: GPL-2.0-or-later
/* The plan's functions by where they are in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plan/plan.h"
#include "plan/planned.h"

#define MANY 5000

static struct plan_function functions[MANY];
static struct plan plan;
static struct planned planned;

static int setup(void **state)
{
	plan = (struct plan){.functions = functions};
	planned = (struct planned){0};
	return 0;
}

static int teardown(void **state)
{
	planned__free(&planned);
	return 0;
}

static void add(uint8_t kind, uint32_t object, uint64_t offset, const char *outside)
{
	functions[plan.functions_cnt++] = (struct plan_function){
		.kind = kind, .object = object, .offset = offset, .outside = outside};
}

static uint32_t find(uint32_t object, uint64_t offset)
{
	uint32_t function;

	assert_int_equal(planned__find(&planned, &plan, object, offset, &function), 0);
	return function;
}

static void none(void **state)
{
	assert_int_equal(find(0, 0), PLANNED_NONE);
}

static void only_functions_of_files(void **state)
{
	add(PLAN_REGION, 0, 0x10, NULL);
	add(PLAN_CALLER, 0, 0x10, "[kernel]");
	add(PLAN_INLINED, 0, 0x10, NULL);
	assert_int_equal(find(0, 0x10), PLANNED_NONE);
	add(PLAN_FUNCTION, 0, 0x10, NULL);
	add(PLAN_CALLER, 0, 0, NULL);
	assert_int_equal(find(0, 0x10), 3);
	assert_int_equal(find(0, 0), 4);
}

/* Each is found, also those that come later, and of two the first. */
static void many(void **state)
{
	for (uint32_t i = 0; i < MANY / 2; i++)
		add(PLAN_FUNCTION, i % 3, 0x1000 + 16 * i / 3, NULL);
	for (uint32_t i = 0; i < MANY / 2; i++)
		assert_int_equal(find(i % 3, 0x1000 + 16 * i / 3), i);
	for (uint32_t i = 0; i < MANY / 2; i++)
		add(PLAN_CALLER, i % 3, 0x1000 + 16 * i / 3 + (i & 1), NULL);
	for (uint32_t i = 0; i < MANY / 2; i++)
		assert_int_equal(find(i % 3, 0x1000 + 16 * i / 3), i);
	assert_int_equal(find(3, 0x1000), PLANNED_NONE);
	assert_int_equal(find(0, 0xfff), PLANNED_NONE);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(none), TEST(only_functions_of_files), TEST(many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
