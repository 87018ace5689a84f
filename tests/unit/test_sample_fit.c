// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of probes, as samples of the target tell it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "attach/costs.h"
#include "collect/figures.h"
#include "collect/leaf_cost.h"
#include "tables/stack_copy.h"

#define PUSH	  WIRE_COST_ENTRY
#define FUNCTIONS 4
#define CALLS	  1000000
#define CHARGED	  700 /* ns a call */
#define PERIOD	  1000000

static const struct function_probes probes[FUNCTIONS] = {
	{.entry = PUSH, .exit = WIRE_COST_RETURN},
	{.entry = PUSH, .exit = WIRE_COST_RETURN},
	{.entry = PUSH, .exit = WIRE_COST_EXIT_STEP},
	{.entry = PUSH, .exit = WIRE_COST_RETURN},
};

static struct probe_costs costs = {
	.classes = {[PUSH] = {CHARGED, 0}},
	.spread = 0.02,
};
static struct leaf_costs leaves;

/* Tiny leaves do not say otherwise. */
static void calibration_holds(void)
{
	for (int in = 0; in < WIRE_COST_CLASSES; in++)
		for (int exit = 0; exit < WIRE_COST_CLASSES; exit++)
			leaves.ratio[in][exit] = 1;
}

/* A call stack of functions 0, 1, ... whose probes cost `factor` times what they are charged with,
 * and which were met by so many samples. */
static struct fitted_cost *measure(const double *own_ns, const uint64_t *samples, size_t cnt,
				   double factor)
{
	const struct fit_known known = {probes, FUNCTIONS, &costs, &leaves, true};
	struct stack_copy *copy = calloc(1, sizeof(*copy) + cnt * sizeof(copy->nodes[0]));
	struct stack_copy_sample met[FUNCTIONS] = {0};
	const struct stack_copy *copies[] = {copy};
	struct fitted_cost *fitted;

	calibration_holds();
	assert_non_null(copy);
	copy->nodes_cnt = cnt;
	copy->samples = met;
	for (size_t i = 0; i < cnt; i++) {
		copy->nodes[i] = (struct stack_copy_node){
			.parent = STACK_COPY_ROOT,
			.function = i,
			.calls = CALLS,
			.self_ns = (uint64_t)(CALLS * (own_ns[i] + factor * CHARGED)),
			.probe_ns = (uint64_t)CALLS * CHARGED,
		};
		if (samples)
			met[copy->samples_cnt++] = (struct stack_copy_sample){
				.base = i,
				.node = i,
				.cnt = samples[i],
				.ns = samples[i] * PERIOD,
			};
	}
	assert_int_equal(sample_fit__measure(copies, 1, &known, PERIOD, &fitted), 0);
	free(copy);
	return fitted;
}

static double own_ns(const struct fitted_cost *f, double own, double factor)
{
	return own + (factor - f->factor) * CHARGED;
}

static void test_without_samples(void **state)
{
	const double own[] = {50};

	assert_null(measure(own, NULL, 1, 1.1));
}

/* With enough samples of its own, calibration says nothing any more. */
static void test_own_samples(void **state)
{
	const double own[] = {500};
	const uint64_t samples[] = {500};
	struct fitted_cost *fitted = measure(own, samples, 1, 1.2);

	assert_true(fabs(own_ns(&fitted[0], 500, 1.2) - 500) < 15);
	/* sqrt(501) ms of 700, and the clock. */
	assert_true(fitted[0].error > 0.032 && fitted[0].error < 0.04);
	free(fitted);
}

/* Functions with the same kinds of probes tell of one that no sample has met; functions with other
 * kinds do not. */
static void test_others_tell(void **state)
{
	const double own[] = {1000, 20, 20, 1000};
	const uint64_t samples[] = {1000, 15, 15, 1000};
	struct fitted_cost *fitted = measure(own, samples, 4, 1.1);
	double same = fitted[1].error, other = fitted[2].error;

	assert_true(fabs(own_ns(&fitted[1], 20, 1.1) - 20) < 2 * same * CHARGED);
	assert_true(same < other);
	assert_true(other < 0.02);
	free(fitted);
}

/* The truth is within two errors however few samples there are: here without one. */
static void test_few_samples(void **state)
{
	const double own[] = {1};
	const uint64_t samples[] = {0};
	struct fitted_cost *fitted = measure(own, samples, 1, 0.9);

	assert_true(fabs(own_ns(&fitted[0], 1, 0.9) - 1) < 2 * fitted[0].error * CHARGED);
	free(fitted);
}

/* A function that the collector does not know of, and samples outside of calls. */
static void test_strangers(void **state)
{
	const struct fit_known known = {probes, FUNCTIONS, &costs, &leaves, true};
	struct stack_copy *copy = calloc(1, sizeof(*copy) + sizeof(copy->nodes[0]));
	struct stack_copy_sample met[] = {{.base = STACK_COPY_ROOT, .cnt = 9, .ns = 9},
					  {.base = 0, .cnt = 9, .ns = 9}};
	const struct stack_copy *copies[] = {copy};
	struct fitted_cost *fitted;

	assert_non_null(copy);
	copy->nodes_cnt = 1;
	copy->nodes[0].function = FUNCTIONS;
	copy->samples = met;
	copy->samples_cnt = 2;
	assert_int_equal(sample_fit__measure(copies, 1, &known, PERIOD, &fitted), 0);
	for (int f = 0; f < FUNCTIONS; f++)
		assert_float_equal(fitted[f].error, 0, 0);
	free(fitted);
	free(copy);
}

/* A function without callees, and one whose probes' cost is two thirds its callee's. A quarter of
 * the caller's was met by samples, on the way back from the callee's exit, and passes for its own
 * time: 1,000 ns and 525. Calibration is 10 % too low. */
static struct fitted_cost *measure_caller(bool kernel_named)
{
	const struct fit_known known = {probes, FUNCTIONS, &costs, &leaves, kernel_named};
	struct stack_copy *copy = calloc(1, sizeof(*copy) + 2 * sizeof(copy->nodes[0]));
	struct stack_copy_sample met[] = {
		{.base = 0, .node = 0, .cnt = 1000, .ns = 1000 * PERIOD},
		{.base = 1, .node = 1, .cnt = 1525, .ns = 1525 * PERIOD},
	};
	const struct stack_copy *copies[] = {copy};
	struct fitted_cost *fitted;

	calibration_holds();
	assert_non_null(copy);
	copy->nodes_cnt = copy->samples_cnt = 2;
	copy->samples = met;
	for (uint32_t i = 0; i < 2; i++) {
		copy->nodes[i] = (struct stack_copy_node){
			.parent = STACK_COPY_ROOT,
			.function = i,
			.calls = CALLS,
			.probe_ns = (uint64_t)CALLS * CHARGED * (i ? 3 : 1),
		};
		copy->nodes[i].self_ns =
			CALLS * 1000ull + (uint64_t)(1.1 * (double)copy->nodes[i].probe_ns);
	}
	assert_int_equal(sample_fit__measure(copies, 1, &known, PERIOD, &fitted), 0);
	free(copy);
	return fitted;
}

/* Where the kernel's functions have no names, callers' samples do not count: the others tell. */
static void test_callers(void **state)
{
	struct fitted_cost *fitted = measure_caller(false);

	assert_true(fabs(fitted[1].factor - 1.1) < 0.025);
	assert_true(fabs(fitted[1].factor - 1.1) < fitted[1].error);
	assert_true(fitted[1].error > fitted[0].error);
	assert_true(fitted[1].error < 0.08);
	free(fitted);
	fitted = measure_caller(true);
	assert_true(fitted[1].factor < 0.95);
	free(fitted);
}

/* Without samples that tell, calibration does, and its error is there to see. */
static void test_caller_alone(void **state)
{
	const struct fit_known known = {probes, FUNCTIONS, &costs, &leaves, false};
	struct stack_copy *copy = calloc(1, sizeof(*copy) + sizeof(copy->nodes[0]));
	struct stack_copy_sample met[] = {{.base = 0, .cnt = 500, .ns = 500 * PERIOD}};
	const struct stack_copy *copies[] = {copy};
	struct fitted_cost *fitted;

	calibration_holds();
	assert_non_null(copy);
	copy->nodes_cnt = copy->samples_cnt = 1;
	copy->samples = met;
	copy->nodes[0] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT,
		.calls = CALLS,
		.self_ns = CALLS * 2100ull,
		.probe_ns = CALLS * 2100ull,
	};
	assert_int_equal(sample_fit__measure(copies, 1, &known, PERIOD, &fitted), 0);
	assert_float_equal(fitted[0].factor, 1, 0.001);
	assert_true(fitted[0].error > 0.15);
	free(fitted);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers),		cmocka_unit_test(test_caller_alone),
		cmocka_unit_test(test_without_samples), cmocka_unit_test(test_own_samples),
		cmocka_unit_test(test_others_tell),	cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
