// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lines/returning.h"

static void known_by_name(void **state)
{
	static const char *const known[] = {"__ctype_b_loc", "abs",    "memcpy",
					    "sprintf",	     "strlen", "y1l"};
	static const char *const unknown[] = {"", "printf", "puts", "qsort", "strlenx", "zz"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_true(returning__knows(known[i]));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_false(returning__knows(unknown[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
