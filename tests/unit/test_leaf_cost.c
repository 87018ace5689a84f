// SPDX-License-Identifier: GPL-2.0-or-later
/* The probes' cost, as calls of leaves tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/collector.h"
#include "tables/stack_copy.h"
#include "collect/leaf_cost.h"

#define PUSH WIRE_COST_ENTRY
#define STEP WIRE_COST_ENTRY_LAST

static const struct function_probes probes[] = {
	{PUSH, WIRE_COST_RETURN, 0}, /* no leaf */
	{PUSH, WIRE_COST_RETURN, 5}, {PUSH, WIRE_COST_RETURN, 5},
	{PUSH, WIRE_COST_RETURN, 5}, {STEP, WIRE_COST_RETURN, 5},
};

#define FUNCTIONS (sizeof(probes) / sizeof(*probes))

/* A call stack in which each function was called so often, in its raw time and with that charge. */
static struct leaf_costs measure(const struct stack_copy_node *nodes, size_t cnt,
				 const struct function_probes *known)
{
	struct stack_copy *copy = calloc(1, sizeof(*copy) + cnt * sizeof(*nodes));
	const struct stack_copy *copies[] = {copy};
	struct leaf_costs y;

	assert_non_null(copy);
	copy->nodes_cnt = cnt;
	memcpy(copy->nodes, nodes, cnt * sizeof(*nodes));
	assert_int_equal(leaf_cost__measure(copies, 1, known, FUNCTIONS, &y), 0);
	free(copy);
	return y;
}

/* Of each call 400 ns were charged, and it took `per_call` and the 2 ns of five instructions. */
#define NODE(f, n, per_call)                                           \
	{                                                              \
		.parent = STACK_COPY_ROOT, .function = f, .calls = n,  \
		.self_ns = (n) * ((per_call) + 2), .probe_ns = (n)*400 \
	}
#define MEASURE(...)                                                    \
	({                                                              \
		const struct stack_copy_node nodes[] = {__VA_ARGS__};   \
		measure(nodes, sizeof(nodes) / sizeof(*nodes), probes); \
	})

static void leaves_tell(void **state)
{
	struct leaf_costs y = MEASURE(NODE(1, 10000, 420));

	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1.05, 1e-9);
	assert_float_equal(y.ratio[STEP][WIRE_COST_RETURN], 1, 0);
	assert_float_equal(y.ratio[PUSH][WIRE_COST_EXIT_STEP], 1, 0);
	y = MEASURE(NODE(1, 10000, 380), NODE(4, 10000, 404));
	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 0.95, 1e-9);
	assert_float_equal(y.ratio[STEP][WIRE_COST_RETURN], 1.01, 1e-9);
}

static void others_do_not(void **state)
{
	struct leaf_costs y = MEASURE(NODE(0, 1000000, 440), NODE(1, 499, 440), NODE(2, 1400, 440));

	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1, 0);
	/* A function that is not known of. */
	y = MEASURE(NODE(FUNCTIONS, 1000000, 440));
	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1, 0);
}

static void waiting_is_no_cost(void **state)
{
	struct stack_copy_node n = NODE(1, 10000, 500);
	struct leaf_costs y;

	n.off_ns = 1000000; /* 100 a call */
	y = measure(&n, 1, probes);
	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1, 1e-9);
}

/* Leaves that wait for memory raise the average, not the lower quartile. */
static void slow_leaves_are_passed_over(void **state)
{
	struct leaf_costs y =
		MEASURE(NODE(1, 10000, 440), NODE(2, 10000, 404), NODE(3, 10000, 480));

	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1.01, 1e-9);
}

static void bounds(void **state)
{
	struct leaf_costs y = MEASURE(NODE(1, 10000, 4000), NODE(4, 10000, 40));

	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1.15, 1e-9);
	assert_float_equal(y.ratio[STEP][WIRE_COST_RETURN], 0.9, 1e-9);
}

static void nothing_known(void **state)
{
	const struct stack_copy_node n = NODE(1, 10000, 440);
	struct leaf_costs y = measure(&n, 1, NULL);

	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1, 0);
	assert_int_equal(leaf_cost__measure(NULL, 0, probes, FUNCTIONS, &y), 0);
	assert_float_equal(y.ratio[PUSH][WIRE_COST_RETURN], 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_tell),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(waiting_is_no_cost),
		cmocka_unit_test(slow_leaves_are_passed_over),
		cmocka_unit_test(bounds),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
