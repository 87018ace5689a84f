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

static char taken[256];

static void take(enum log_level level, const char *line)
{
	snprintf(taken + strlen(taken), sizeof(taken) - strlen(taken), "%s;", line);
}

/* Each different line, however often it comes, and also if it was hidden before. */
static void test_lines_that_come_once(void **state)
{
	*taken = '\0';
	log_divert(take);
	log_set_level(LOG_ERROR);
	log_once(LOG_WARN, "file %d", 1);
	log_set_level(LOG_INFO);
	for (int i = 0; i < 2; i++) {
		log_once(LOG_WARN, "file %d", 1);
		log_once(LOG_WARN, "file %d", 2);
		log_warn("again");
	}
	log_divert(NULL);
	assert_string_equal(taken, "file 1;file 2;again;again;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_clear_the_status_line),
		cmocka_unit_test(test_lines_that_come_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
