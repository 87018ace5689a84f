// SPDX-License-Identifier: GPL-2.0-or-later
/* The one language of -F, -N, --session, report -F and all others that take a GLOB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "calls/function_glob.h"
#include "calls/profile.h"
#include "util/glob.h"

static const struct {
	const char *func, *name;
	bool match;
} names[] = {
	{"f", "f", true},
	{"f", "g", false},
	{"f*", "first", true},
	{"f", "f.part.0", true},
	{"f", "f.constprop.0.isra.1", true},
	{"f", "f(int) [clone .part.0]", true},
	{"f(int)", "f(int) [clone .part.0]", true},
	{"f.part.*", "f.part.0", true},
	{"f", ".part.0", false},
	{"ns::f", "ns::f(std::pair<int, int>) const", true},
	{"ns::*", "ns::f(int)", true},
	{"f", "ns::f(int)", false},
	{"operator()", "operator()(int)", true},
	{"a::operator*", "a::operator*(int)", true},
	{"a[b]", "a[b]", true},
	{"main.(*T).get", "main.(*T).get", true},
	{"main.*", "main.(*T).get", true},
	{"f", "", false},
	{"", "", true},
};

static void test_functions(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (glob__matches_function(names[i].func, names[i].name) != names[i].match)
			fail_msg("%s: %s", names[i].func, names[i].name);
	}
}

static void test_objects(void **state)
{
	assert_true(glob__matches_object("libc.so*", "/usr/lib/libc.so.6"));
	assert_true(glob__matches_object("/opt/a[b]", "/opt/a[b]"));
	assert_false(glob__matches_object("libc", "/usr/lib/libc.so.6"));
	assert_false(glob__matches_object("/usr/*", "/usr/lib/libc.so.6"));
}

static void test_parts(void **state)
{
	assert_string_equal(glob__object_end("libc.so.6:malloc"), ":malloc");
	assert_string_equal(glob__object_end("lib.so:ns::f"), ":ns::f");
	assert_null(glob__object_end("ns::f"));
	assert_true(glob__is_region("region:query"));
	assert_false(glob__is_region("regions:query"));
}

/* Recordings are filtered as live runs are. */
static void test_functions_of_profiles(void **state)
{
	const char *const aliases[] = {"other"};
	const struct profile_function f = {
		.symbol = "f.part.0",
		.name = "f.part.0",
		.module = "/usr/bin/program",
		.aliases = aliases,
		.aliases_cnt = 1,
	};
	const struct profile_function region = {
		.symbol = "f", .name = "f", .kind = FUNCTION_REGION};

	assert_true(function_glob__matches("f", &f));
	assert_true(function_glob__matches("program:f", &f));
	assert_true(function_glob__matches("program:", &f));
	assert_true(function_glob__matches("oth*", &f));
	assert_false(function_glob__matches("libc.so.6:f", &f));
	assert_false(function_glob__matches("region:f", &f));
	assert_true(function_glob__matches("region:f", &region));
	assert_true(function_glob__matches("region:", &region));
	assert_false(function_glob__matches("f", &region));
}

static void test_balance(void **state)
{
	static const char *const balanced[] = {"",
					       "f",
					       "f(int)",
					       "operator[]",
					       "operator()(int)",
					       "f[0-9]",
					       "[(]*",
					       "[])]x",
					       "[!]a]",
					       "\\[",
					       "a\\(b",
					       "ns::{lambda(int)#1}",
					       "f[[:alpha:]]",
					       "operator[](int)",
					       "libc.so.6:mem*"};
	static const char *const not [] = {"[",	  "(",	     ")",   "]",	 "f(", "f]",
					   "f[a", "f(int))", "()(", "lib.so:f[", ")("};

	for (size_t i = 0; i < sizeof(balanced) / sizeof(*balanced); i++) {
		if (!glob__is_balanced(balanced[i]))
			fail_msg("%s", balanced[i]);
	}
	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++) {
		if (glob__is_balanced(not [i]))
			fail_msg("%s", not [i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_functions_of_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
