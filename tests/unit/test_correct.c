// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured times without the probes' cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "attach/costs.h"
#include "calls/profile.h"
#include "collect/correct.h"
#include "tables/stack_copy.h"

static const struct probe_costs unknown;
static const struct probe_costs costs = {
	.classes =
		{
			[WIRE_COST_ENTRY_PUSH] = {100, 300},
			[WIRE_COST_RETURN] = {50, 250},
			[WIRE_COST_TIMED] = {20, 40},
		},
	.spread = 0.1,
	.cold_gain = 0.5,
};

static void assert_times(struct stack_copy_node n, const struct probe_costs *c, bool raw,
			 uint64_t self_ns, uint64_t off_ns)
{
	struct call_stats s;

	memset(&s, 0xee, sizeof(s));
	correct__node(&n, c->spread, raw, &s);
	assert_int_equal(s.calls, n.calls);
	assert_int_equal(s.raw_self_ns, n.self_ns);
	assert_int_equal(s.raw_total_ns, n.self_ns);
	assert_int_equal(s.self_ns, self_ns);
	assert_int_equal(s.total_ns, self_ns);
	assert_int_equal(s.off_self_ns, off_ns);
	assert_int_equal(s.off_ns, off_ns);
	assert_int_equal(s.error_ns, s.self_error_ns);
	assert_true(s.off_self_ns <= s.self_ns && s.self_ns <= s.raw_self_ns);
}

#define NODE(...) ((struct stack_copy_node){.parent = STACK_COPY_ROOT, .calls = 3, __VA_ARGS__})

static void costs_are_taken_out(void **state)
{
	assert_times(NODE(.self_ns = 1000), &costs, false, 1000, 0);
	assert_times(NODE(.self_ns = 1000, .probe_ns = 300), &costs, false, 700, 0);
	assert_times(NODE(.self_ns = 1000, .probe_ns = 1000), &costs, false, 0, 0);
}

static void never_below_0(void **state)
{
	assert_times(NODE(.self_ns = 1000, .probe_ns = 1001), &costs, false, 0, 0);
	assert_times(NODE(.self_ns = 0, .probe_ns = UINT64_MAX), &costs, false, 0, 0);
	assert_times(NODE(.self_ns = UINT64_MAX, .probe_ns = UINT64_MAX), &costs, false, 0, 0);
}

/* Probes cost CPU time: what was waited for stays. */
static void waiting_is_kept(void **state)
{
	assert_times(NODE(.self_ns = 1000, .off_ns = 400, .probe_ns = 300), &costs, false, 700,
		     400);
	assert_times(NODE(.self_ns = 1000, .off_ns = 900, .probe_ns = 300), &costs, false, 900,
		     900);
	assert_times(NODE(.self_ns = 1000, .off_ns = 5000, .probe_ns = 300), &costs, false, 1000,
		     1000);
	assert_times(NODE(.self_ns = 0, .off_ns = UINT64_MAX), &costs, false, 0, 0);
}

static void raw_times(void **state)
{
	struct stack_copy_node n = NODE(.self_ns = 1000, .off_ns = 400, .probe_ns = 300);
	struct call_stats s;

	assert_times(n, &costs, true, 1000, 400);
	correct__node(&n, costs.spread, true, &s);
	assert_int_equal(s.self_error_ns, 0);
	assert_times(NODE(.self_ns = 10, .probe_ns = 300), &costs, true, 10, 0);
}

static void uncertainty(void **state)
{
	struct stack_copy_node n = NODE(.self_ns = 1000, .probe_ns = 300);
	struct call_stats s;

	correct__node(&n, costs.spread, false, &s);
	assert_int_equal(s.self_error_ns, 30);
	correct__node(&n, unknown.spread, false, &s);
	assert_int_equal(s.self_error_ns, 0);
}

static void shortest_and_longest(void **state)
{
	struct stack_copy_node n = NODE(.min_ns = 7, .max_ns = 9);
	struct call_stats s;

	correct__node(&n, costs.spread, false, &s);
	assert_int_equal(s.min_ns, 7);
	assert_int_equal(s.max_ns, 9);
	n.min_ns = n.max_ns = 0; /* none has returned */
	correct__node(&n, costs.spread, false, &s);
	assert_int_equal(s.min_ns, UINT64_MAX);
	assert_int_equal(s.max_ns, 0);
}

static void factors(void **state)
{
	struct probe_costs no_gain = costs;

	no_gain.cold_gain = 0;
	assert_float_equal(correct__factor(&costs, 1000, 1000), 1, 1e-9);
	/* Half of what timed parts are slower, as the gain says. */
	assert_float_equal(correct__factor(&costs, 2000, 1000), 1.5, 1e-9);
	assert_float_equal(correct__factor(&costs, 900, 1000), 0.95, 1e-9);
	assert_float_equal(correct__factor(&no_gain, 2000, 1000), 1, 1e-9);
	/* Within bounds, whatever was measured. */
	assert_float_equal(correct__factor(&costs, 0, 1000), 0.8, 1e-9);
	assert_float_equal(correct__factor(&costs, 100000, 1000), 4, 1e-9);
	assert_float_equal(correct__factor(&costs, UINT64_MAX, 80), 4, 1e-9);
	assert_float_equal(correct__factor(&costs, 0, UINT64_MAX), 0.8, 1e-9);
	/* Fewer than four parts. */
	assert_float_equal(correct__factor(&costs, 2000, 79), 1, 1e-9);
	assert_float_equal(correct__factor(&costs, 160, 80), 1.5, 1e-9);
	assert_float_equal(correct__factor(&costs, 2000, 0), 1, 1e-9);
	assert_float_equal(correct__factor(&unknown, 2000, 0), 1, 1e-9);
	assert_float_equal(correct__factor(&unknown, 2000, 1000), 1, 1e-9);
}

/* outer calls inner; `timed` of inner's parts where 1000 were expected. */
static struct stack_copy *copy(uint32_t timed)
{
	struct stack_copy *p = calloc(1, sizeof(*p) + 2 * sizeof(p->nodes[0]));

	assert_non_null(p);
	p->nodes_cnt = 2;
	p->outside_ns = 550;
	p->nodes[0] = (struct stack_copy_node){.parent = STACK_COPY_ROOT,
					       .calls = 1,
					       .self_ns = 20000,
					       .probe_ns = 150 + 10 * 550};
	p->nodes[1] = (struct stack_copy_node){.parent = 0,
					       .calls = 10,
					       .self_ns = 5000,
					       .probe_ns = 10 * 150,
					       .timed_ns = timed,
					       .expected_ns = timed ? 1000 : 0};
	return p;
}

static void assert_probes(uint32_t timed, const struct probe_costs *c, uint64_t inner,
			  uint64_t outer)
{
	struct stack_copy *p = copy(timed);

	correct__stack_copy(p, c);
	assert_int_equal(p->nodes[1].probe_ns, inner);
	assert_int_equal(p->nodes[0].probe_ns, outer);
	assert_int_equal(p->outside_ns, 550);
	assert_int_equal(p->nodes[0].self_ns, 20000);
	assert_int_equal(p->nodes[1].self_ns, 5000);
	free(p);
}

/* A dearer probe is paid for where the cheap one was: a part by the callee, a part by its caller.
 */
static void cold_caches(void **state)
{
	assert_probes(0, &costs, 1500, 150 + 5500);
	assert_probes(1000, &costs, 1500, 150 + 5500);
	assert_probes(2000, &costs, 1500 * 1.5, 150 + 5500 * 1.5);
	assert_probes(800, &costs, 1500 * 0.9, 150 + 5500 * 0.9);
	assert_probes(UINT32_MAX, &costs, 1500 * 4, 150 + 5500 * 4);
	assert_probes(2000, &unknown, 1500, 150 + 5500);
}

static void outermost_calls(void **state)
{
	struct stack_copy *p = copy(0);

	p->nodes[0].timed_ns = 400;
	p->nodes[0].expected_ns = 200;
	correct__stack_copy(p, &costs);
	assert_int_equal(p->nodes[0].probe_ns, 5500 + 150 * 1.5);
	assert_int_equal(p->outside_ns, 550 * 1.5);
	assert_int_equal(p->nodes[1].probe_ns, 1500);
	free(p);
}

/* Less is not taken out than was put in: what is known of other kinds of probes is not enough. */
static void a_cheaper_one_than_the_costs_say(void **state)
{
	struct stack_copy *p = copy(1);

	p->nodes[1].probe_ns = 5;
	p->nodes[0].probe_ns = 0;
	correct__stack_copy(p, &costs);
	assert_int_equal(p->nodes[1].probe_ns, 0);
	assert_int_equal(p->nodes[0].probe_ns, 0);
	free(p);
}

static void nothing_in_it(void **state)
{
	struct stack_copy *p = copy(2000);

	p->nodes_cnt = 0;
	correct__stack_copy(p, &costs);
	assert_int_equal(p->outside_ns, 550);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_taken_out),
		cmocka_unit_test(never_below_0),
		cmocka_unit_test(waiting_is_kept),
		cmocka_unit_test(raw_times),
		cmocka_unit_test(uncertainty),
		cmocka_unit_test(shortest_and_longest),
		cmocka_unit_test(factors),
		cmocka_unit_test(cold_caches),
		cmocka_unit_test(outermost_calls),
		cmocka_unit_test(a_cheaper_one_than_the_costs_say),
		cmocka_unit_test(nothing_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
