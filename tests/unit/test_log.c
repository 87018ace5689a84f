// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/log.h"

/* A line that is written over again and again gives way to a message, and so once only. */
static void test_messages_clear_the_status_line(void **state)
{
	char text[256] = "";
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t len;

	assert_int_equal(pipe(ends), 0);
	fflush(stderr);
	dup2(ends[1], STDERR_FILENO);
	fputs("0.5 s  1 call", stderr);
	log_status_line(true);
	log_info("one");
	log_info("two");
	log_status_line(true);
	log_status_line(false);
	log_info("three");
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	len = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	assert_true(len > 0);
	assert_string_equal(text, "0.5 s  1 call\r\033[Kproftrace: one\nproftrace: two\n"
				  "proftrace: three\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_clear_the_status_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
