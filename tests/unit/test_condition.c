// SPDX-License-Identifier: GPL-2.0-or-later
/* Conditions of --where: what stays within the parentheses around it, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/condition.h"

static void stay(void **state)
{
	static const char *const conditions[] = {
		"1",
		"service = 'api' and time > now() - 3600",
		"(service = 'a' or host in ('x', 'y')) and not (kernel like '6.%')",
		"service = 'it\\'s'",
		"service = 'it''s'",
		"host = 'a\\\\b'",
		"host = ') or ('",
		"host = '-- ; # /* $'",
		"\"service\" = 'a' and `host` = 'b)'",
		"host = '\xe2\x80\x99'",
		"[1, 2][1] = 1",
		"time > 3 - -1",
		"service = 'a'\n and 4 / 2 = 2",
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		if (condition__wrong(conditions[i]))
			fail_msg("%s: %s", conditions[i], condition__wrong(conditions[i]));
	}
}

static void leave(void **state)
{
	static const struct {
		const char *condition, *words;
	} cases[] = {
		{"", "empty"},
		{" \t\n", "empty"},
		{"1) or (1", "counterpart"},
		{"(1", "counterpart"},
		{"1)", "counterpart"},
		{"([1)]", "counterpart"},
		{"service = 'a", "quote"},
		{"service = 'a\\'", "quote"},
		{"service = '", "quote"},
		{"'a' = 'b''", "quote"},
		{"\"service = 'a'", "quote"},
		{"`a", "quote"},
		{"1 -- x", "comment"},
		{"1 --", "comment"},
		{"1 /* x", "comment"},
		{"1 /* x */", "comment"},
		{"1 # x", "comment"},
		{"1 #! x", "comment"},
		{"1; drop table x", "statement"},
		{"1;", "statement"},
		{"$$'$$) or ($$'$$ = ''", "$"},
		{"1 \\G", "\\"},
		{"a = \xe2\x80\x98) or (\xe2\x80\x99", "printed"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *wrong = condition__wrong(cases[i].condition);

		if (!wrong || !strstr(wrong, cases[i].words))
			fail_msg("%s: %s", cases[i].condition, wrong ? wrong : "taken");
	}
}

static void depth(void **state)
{
	char deep[1000];

	memset(deep, '(', 400);
	deep[400] = '1';
	memset(deep + 401, ')', 400);
	deep[801] = '\0';
	assert_non_null(condition__wrong(deep));
	assert_null(condition__wrong(deep + 350) ? NULL : "taken");
	deep[451] = '\0';
	assert_null(condition__wrong(deep + 350));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stay),
		cmocka_unit_test(leave),
		cmocka_unit_test(depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
