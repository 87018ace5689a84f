// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's budget of the machine, and the sums of services that it is compared with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/machine_budget.h"
#include "agent/service.h"
#include "recording/share.h"

#define SECOND_NS 1000000000ull

static void too_much_lowers(void **state)
{
	struct machine_budget b = {.scale = 1};

	machine_budget__judge(&b, 5 * SECOND_NS, 0.1, SECOND_NS);
	assert_true(b.scale == 1);
	machine_budget__judge(&b, 7 * SECOND_NS, 0.1, 11 * SECOND_NS);
	assert_true(b.scale == 0.5);
	machine_budget__judge(&b, 7 * SECOND_NS, 0.1, 21 * SECOND_NS);
	assert_true(b.scale == 0.75);
}

/* A service was removed: what it had spent is not in the sum any more. */
static void a_sum_that_falls_tells_nothing(void **state)
{
	struct machine_budget b = {.scale = 1};

	machine_budget__judge(&b, 7 * SECOND_NS, 0.1, SECOND_NS);
	machine_budget__judge(&b, 5 * SECOND_NS, 0.1, 11 * SECOND_NS);
	assert_true(b.scale == 1);
	machine_budget__judge(&b, 7 * SECOND_NS, 0.1, 21 * SECOND_NS);
	assert_true(b.scale == 0.5);
}

/* A run that its successor is to replace counts as long as both are there. */
static void both_runs_count(void **state)
{
	struct run_share run = {.probe_ns = 1, .recordings = 10};
	struct run_share old = {.probe_ns = 2, .recordings = 20};
	struct service sv = {.run.share = &run, .old.share = &old, .probe_ns = 4, .recordings = 40};
	struct service_sums sums = service__sums(&sv);

	assert_int_equal(sums.probe_ns, 7);
	assert_int_equal(sums.recordings, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_much_lowers),
		cmocka_unit_test(a_sum_that_falls_tells_nothing),
		cmocka_unit_test(both_runs_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
