// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of processes that samples have met: more than are remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/code_names.h"

#define NOBODY 5000000 /* above any process id */
#define MANY   5000    /* processes */

static const char *name_at(struct code_names *c, pid_t pid, const void *code)
{
	int64_t number = code_names__find(c, pid, (uintptr_t)code, false);

	assert_true(number >= 0);
	return code_names__at(c, (size_t)number)->name;
}

static __attribute__((noinline)) int here(void)
{
	return 1;
}

/* Processes come and go, thousands in a minute where programs are compiled. */
static void processes_come_and_go(void **state)
{
	struct code_names *c;

	assert_int_equal(code_names__new(&c), 0);
	for (int i = 0; i < MANY; i++) {
		code_names__round(c);
		assert_string_equal(name_at(c, NOBODY + i, here), "[unknown]");
	}
	assert_string_equal(name_at(c, getpid(), here), "here");
	code_names__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
