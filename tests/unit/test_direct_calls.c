// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions a function's code calls. */
#include "elf_fixture.h"

#include "plan/plan.h"
#include "planner/direct_calls.h"
#include "target/target.h"

/* At 0x10: call 0x40; jne 0x30; call *%rax; call 0x10 (itself); call 0x48 (amid a function); jmp
 * 0x50 (of another file's numbers as well). */
static const uint8_t code[] = {0xe8, 0x2b, 0,	 0,    0, 0x75, 0x19, 0xff, 0xd0, 0xe8, 0xf2, 0xff,
			       0xff, 0xff, 0xe8, 0x25, 0, 0,	0,    0xe9, 0x28, 0,	0,    0};

enum { CALLER, IN_VAIN, BRANCH, CALLED, JUMPED, ELSEWHERE, REGION, FUNCTIONS };

static void test_direct_calls(void **state)
{
	struct plan_function functions[FUNCTIONS] = {
		[CALLER] = {.offset = 0x10, .size = sizeof(code)},
		[IN_VAIN] = {.offset = 0x47},
		[BRANCH] = {.offset = 0x30},
		[CALLED] = {.offset = 0x40},
		[JUMPED] = {.offset = 0x50},
		[ELSEWHERE] = {.offset = 0x40, .object = 1},
		[REGION] = {.offset = 0x50, .kind = PLAN_REGION},
	};
	struct plan plan = {.functions = functions, .functions_cnt = FUNCTIONS};
	struct target_object objects[2] = {{.fd = memfd_create("code", 0)}, {.fd = -1}};
	const struct target target = {.objects = objects, .objects_cnt = 2};
	uint32_t *called;

	assert_int_equal(pwrite(objects[0].fd, code, sizeof(code), 0x10), sizeof(code));
	assert_int_equal(direct_calls__of(&plan, &target, CALLER, &called), 3);
	assert_int_equal(called[0], BRANCH);
	assert_int_equal(called[1], CALLED);
	assert_int_equal(called[2], JUMPED);
	free(called);
	/* Code that is not there, or cannot be read. */
	functions[IN_VAIN].size = UINT64_MAX;
	assert_int_equal(direct_calls__of(&plan, &target, IN_VAIN, &called), 0);
	free(called);
	assert_int_equal(direct_calls__of(&plan, &target, ELSEWHERE, &called), 0);
	free(called);
	close(objects[0].fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_direct_calls)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
