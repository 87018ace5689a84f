/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objection of the kernel's verifier is found in its log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attach/links/refusal.h"

static char said[64];

static void the_objection_is_the_last_line_but_for_figures(void **state)
{
	const char log[] = "func#0 @0\n"
			   "0: R1=ctx(off=0,imm=0) R10=fp0\n"
			   "combined stack size of 5 calls is 544. Too large\n"
			   "verification time 1223 usec\n"
			   "stack depth 256+48\n"
			   "processed 42 insns (limit 1000000) max_states_per_insn 1\n"
			   "-- END PROG LOAD LOG --\n";

	assert_true(refusal__objection(log, said, sizeof(said)));
	assert_string_equal(said, "combined stack size of 5 calls is 544. Too large");
}

static void a_log_that_was_cut_off_is_read_to_its_end(void **state)
{
	assert_true(refusal__objection("one\ntwo", said, sizeof(said)));
	assert_string_equal(said, "two");
	assert_true(refusal__objection("only", said, sizeof(said)));
	assert_string_equal(said, "only");
}

static void long_lines_are_cut(void **state)
{
	char few[8];

	assert_true(refusal__objection("0123456789\n", few, sizeof(few)));
	assert_string_equal(few, "0123456");
}

static void figures_are_no_objection(void **state)
{
	assert_false(refusal__objection("", said, sizeof(said)));
	assert_false(refusal__objection("\n\n", said, sizeof(said)));
	assert_false(refusal__objection("processed 7 insns (limit 1000000)\n", said, sizeof(said)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_objection_is_the_last_line_but_for_figures),
		cmocka_unit_test(a_log_that_was_cut_off_is_read_to_its_end),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(figures_are_no_objection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
