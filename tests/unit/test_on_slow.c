// SPDX-License-Identifier: GPL-2.0-or-later
/* --on-slow: what a command is given, and what is told of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "slo/on_slow.h"
#include "util/log.h"

static char folder[] = "/tmp/proftrace-on-slow-XXXXXX", said[4096], command[256];

static void take(enum log_level level, const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

/* A script there, which has the folder in $D. */
static const char *script(const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/script", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "D=%s\n%s\n", folder, text);
	fclose(f);
	snprintf(command, sizeof(command), " /bin/sh  %s -x ", path);
	return command;
}

static char *contents(const char *name)
{
	static char text[1024];
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	if (!f)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void run(const char *what, int limit_ms)
{
	struct on_slow *s;

	said[0] = '\0';
	assert_int_equal(on_slow__start(what, limit_ms, &s), 0);
	on_slow__run(s, "slow/1.data", "31 ms waiting in `log_write`; $(id)");
	on_slow__finish(s, ON_SLOW_MS);
	on_slow__free(s);
}

/* Words as they are, then the recording; the sentence is in the environment. */
static void test_arguments(void **state)
{
	run(script("echo \"$#|$1|$2|$PROFTRACE_WHY\" > $D/told"), ON_SLOW_MS);
	assert_string_equal(contents("told"),
			    "2|-x|slow/1.data|31 ms waiting in `log_write`; $(id)\n");
	assert_string_equal(said, "");
}

/* No shell looks at it. */
static void test_no_shell(void **state)
{
	snprintf(command, sizeof(command), "/bin/true ; touch %s/made $(touch %s/made)", folder,
		 folder);
	run(command, ON_SLOW_MS);
	assert_null(contents("made"));
}

static void test_status(void **state)
{
	run(script("exit 3"), ON_SLOW_MS);
	assert_non_null(strstr(said, "exit status 3"));
	run(script("kill -KILL $$"), ON_SLOW_MS);
	assert_non_null(strstr(said, "signal 9"));
	run("/nonexistent/command", ON_SLOW_MS);
	assert_non_null(strstr(said, "no such command"));
}

/* A command that hangs is ended, with all that it has started, whatever they do about SIGTERM. */
static void test_hangs(void **state)
{
	run(script("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > $D/pid; "
		   "wait"),
	    300);
	assert_non_null(strstr(said, "longer than 0.3 s"));
}

/* At the end of the run one that hangs is given a moment, not the whole time that it may take. */
static void test_end(void **state)
{
	struct on_slow *s;

	said[0] = '\0';
	assert_int_equal(
		on_slow__start(script("trap '' TERM; while :; do sleep 1; done"), ON_SLOW_MS, &s),
		0);
	on_slow__run(s, "slow/1.data", "");
	on_slow__finish(s, 100);
	assert_non_null(strstr(said, "it was ended with the run, as it went on for 0.1 s"));
	on_slow__finish(s, 100); /* there is nothing to wait for */
	on_slow__free(s);
}

/* Commands run one at a time. */
static void test_busy(void **state)
{
	struct on_slow *s;

	assert_int_equal(
		on_slow__start(script("read line < $D/fifo; echo $2 >> $D/names"), ON_SLOW_MS, &s),
		0);
	snprintf(command + 128, 128, "mkfifo %s/fifo", folder);
	assert_int_equal(system(command + 128), 0);
	on_slow__run(s, "first", "");
	on_slow__run(s, "second", "");
	assert_non_null(strstr(said, "not run for second"));
	snprintf(command + 128, 128, "echo go > %s/fifo", folder);
	assert_int_equal(system(command + 128), 0);
	on_slow__finish(s, ON_SLOW_MS);
	assert_string_equal(contents("names"), "first\n");
	on_slow__free(s);
}

static int set_up(void **state)
{
	log_divert(take);
	return !mkdtemp(folder);
}

static int tear_down(void **state)
{
	char remove[128];

	log_divert(NULL);
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	return system(remove);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_no_shell),
		cmocka_unit_test(test_status),	  cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_end),	  cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
