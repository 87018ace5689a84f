// SPDX-License-Identifier: GPL-2.0-or-later
/* Assertions that --assert takes; and of those that it does not, what is missing, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/assertion.h"

static void expect(const char *text, enum measure measure, const char *glob, enum comparison c,
		   uint64_t limit)
{
	struct assertion a;
	unsigned int at;

	assert_null(assertion__parse(&a, text, &at));
	assert_int_equal(a.measure, measure);
	assert_string_equal(a.glob, glob);
	assert_int_equal(a.comparison, c);
	assert_int_equal(a.limit, limit);
	free(a.glob);
}

static void refuse(const char *text, unsigned int where, const char *word)
{
	struct assertion a;
	unsigned int at;
	const char *missing = assertion__parse(&a, text, &at);

	assert_non_null(missing);
	if (at != where || !strstr(missing, word))
		fail_msg("%s: at %u: %s", text, at, missing);
	free(a.glob);
}

static void good(void **state)
{
	expect("calls(parse) <= 1000", MEASURE_CALLS, "parse", LESS_OR_EQUAL, 1000);
	expect("p99(handle_*)<5ms", MEASURE_P99, "handle_*", LESS, 5000000);
	expect("  total ( libz.so.1:* ) >= 1.5s ", MEASURE_TOTAL, " libz.so.1:* ", GREATER_OR_EQUAL,
	       1500000000);
	expect("calls(ns::f(int) const)==0", MEASURE_CALLS, "ns::f(int) const", EQUAL, 0);
	expect("max(operator<) > 1ns", MEASURE_MAX, "operator<", GREATER, 1);
	expect("calls(f) < 18446744073709551615", MEASURE_CALLS, "f", LESS, UINT64_MAX);
}

static void bad(void **state)
{
	refuse("", 1, "calls, total");
	refuse("call(f) < 1", 1, "calls, total");
	refuse("calls f < 1", 7, "(FUNCTION)");
	refuse("calls(f < 1", 7, ")");
	refuse("calls() < 1", 7, "name");
	refuse("calls(f)", 9, "==");
	refuse("calls(f) = 1", 10, "==");
	refuse("calls(f) != 1", 10, "==");
	refuse("calls(f) <", 11, "number");
	refuse("calls(f) < x", 12, "number");
	refuse("calls(f) < -1", 12, "number");
	refuse("calls(f) < 5ms", 12, "number");
	refuse("calls(f) < 18446744073709551616", 12, "number");
	refuse("p50(f) < 5", 10, "time");
	refuse("p50(f) < 5ms x", 10, "time");
	refuse("p50(f) < 5 ms and what is much longer than that", 10, "time");
}

static void comparisons(void **state)
{
	static const struct {
		const char *text;
		bool below, at, above; /* of 10 */
	} cases[] = {
		{"calls(f) < 10", true, false, false},	{"calls(f) <= 10", true, true, false},
		{"calls(f) > 10", false, false, true},	{"calls(f) >= 10", false, true, true},
		{"calls(f) == 10", false, true, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct assertion a;
		unsigned int at;

		assert_null(assertion__parse(&a, cases[i].text, &at));
		assert_int_equal(assertion__holds(&a, 9), cases[i].below);
		assert_int_equal(assertion__holds(&a, 10), cases[i].at);
		assert_int_equal(assertion__holds(&a, 11), cases[i].above);
		free(a.glob);
	}
}

static void rule(const char *text, enum measure measure, const char *glob, enum comparison c,
		 uint64_t limit)
{
	struct assertion a;
	unsigned int at;

	assert_null(assertion__parse_rule(&a, text, &at));
	assert_int_equal(a.measure, measure);
	assert_string_equal(a.glob, glob);
	assert_int_equal(a.comparison, c);
	assert_int_equal(a.limit, limit);
	free(a.glob);
}

static void no_rule(const char *text, unsigned int where, const char *word)
{
	struct assertion a;
	unsigned int at;
	const char *missing = assertion__parse_rule(&a, text, &at);

	assert_non_null(missing);
	if (at != where || !strstr(missing, word))
		fail_msg("%s: at %u: %s", text, at, missing);
	free(a.glob);
}

static void good_rules(void **state)
{
	rule("handle_*: p99 < 5ms", MEASURE_P99, "handle_*", LESS, 5000000);
	rule(" libapi.so:handle : max<=1s", MEASURE_MAX, "libapi.so:handle", LESS_OR_EQUAL,
	     1000000000);
	rule("ns::f(int):avg < 10us ", MEASURE_AVG, "ns::f(int)", LESS, 10000);
}

static void bad_rules(void **state)
{
	no_rule("", 1, ":");
	no_rule(": p99 < 5ms", 1, ":");
	no_rule("handle p99 < 5ms", 1, ":");
	no_rule("handle: p98 < 5ms", 9, "p99");
	no_rule("handle: calls < 5", 9, "avg");
	no_rule("handle: total < 5s", 9, "avg");
	no_rule("handle: p99", 12, "<");
	no_rule("handle: p99 < 5", 15, "unit");
	no_rule("handle: p99 < 0ms", 15, "time");
	no_rule("handle: p99 > 5ms", 13, "how long");
	no_rule("handle: p99 == 5ms", 13, "how long");
	no_rule("ns::handle", 5, "p99");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),	       cmocka_unit_test(bad),
		cmocka_unit_test(good_rules),  cmocka_unit_test(bad_rules),
		cmocka_unit_test(comparisons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
