// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's configuration: what is right, and each kind of mistake with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/config.h"
#include "util/log.h"

static struct config c;

static void parse(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	config__clear(&c);
	assert_int_equal(config__parse(copy, &c), 0);
	free(copy);
}

/* Asserts that the error is among all, in that line. */
static void assert_error(unsigned int line, const char *words)
{
	for (size_t i = 0; i < c.errors_cnt; i++) {
		if (c.errors[i].line == line && strstr(c.errors[i].text, words))
			return;
	}
	config__tell(&c, "text");
	fail_msg("no error in line %u says \"%s\"", line, words);
}

/* Asserts that the error is the only one. */
static void refuse(unsigned int line, const char *words, const char *text)
{
	parse(text);
	assert_error(line, words);
	if (c.errors_cnt != 1)
		config__tell(&c, "text");
	assert_int_equal(c.errors_cnt, 1);
}

#define RECEIVER "[receiver r]\nurl = clickhouse://h/d\n"
#define WEB	 "[service web]\nprocess = nginx\n"

static int forget(void **state)
{
	config__clear(&c);
	return 0;
}

static void everything(void **state)
{
	parse("# comment\n; comment\n\n[agent]\n ring = /srv/ring\ninterval=30s\n"
	      "keep = 7d\nsize = 2G\nmemory = 100M\noverhead = 0.5%\nstatus = /run/x.json\n"
	      "[service web]\r\nprocess = nginx,php*\r\nuser = root\nfilter = ngx_*\n"
	      "filter = a = b\noverhead = 2\nversion = 1.3 beta\nfollow = yes\n"
	      "sample-rate = 0\nleave-out = x\n"
	      "[service db]\nunit = postgresql.service\nfollow = no\n"
	      "[receiver main]\nurl = clickhouse://h:1/d\nservices = web, db\n"
	      "secret-file = /etc/secret");
	config__tell(&c, "text");
	assert_int_equal(c.errors_cnt, 0);
	assert_string_equal(c.ring, "/srv/ring");
	assert_string_equal(c.status, "/run/x.json");
	assert_true(c.interval_ns == 30000000000ull && c.keep_s == 7 * 86400);
	assert_true(c.size == 2ull << 30 && c.memory == 100ull << 20 && c.overhead == 0.5);
	assert_int_equal(c.services_cnt, 2);
	assert_string_equal(c.services[0].name, "web");
	assert_true(c.services[0].overhead == 2 && c.services[1].overhead == 1);
	assert_string_equal(c.services[0].version, "1.3 beta");
	assert_int_equal(c.services[0].words_cnt, 13);
	assert_string_equal(c.services[0].words[6], "-F");
	assert_string_equal(c.services[0].words[7], "a = b");
	assert_int_equal(c.services[1].words_cnt, 2);
	assert_int_equal(c.receivers_cnt, 1);
	assert_string_equal(c.receivers[0].services, "web, db");
}

static void what_is_not_given(void **state)
{
	parse(WEB);
	assert_int_equal(c.errors_cnt, 0);
	assert_string_equal(c.ring, "/var/lib/proftrace");
	assert_true(c.interval_ns == 60000000000ull && c.overhead == 1);
}

static void lines_that_are_none(void **state)
{
	refuse(3, "neither 'key = value' nor '[section]'", WEB "what\n");
	refuse(3, "neither 'key = value' nor '[section]'", WEB "[agent\nsize = 1G\n");
	refuse(1, "is in no section", "size = 1G\n" WEB);
}

static void sections(void **state)
{
	refuse(3, "no such section", WEB "[servce db]\nprocess = x\n");
	refuse(3, "no such section", WEB "[agent x]\n");
	refuse(3, "needs a name", WEB "[service]\nprocess = x\n");
	refuse(3, "needs a name", WEB "[service ../etc]\nprocess = x\n");
	refuse(3, "is there already, in line 1", WEB "[service web]\nprocess = x\n");
	refuse(5, "[agent]: is there already, in line 3",
	       WEB "[agent]\nsize = 1G\n[agent]\nsize = 2G\n");
	refuse(4, "[metrics]: is there already, in line 3",
	       WEB "[metrics]\n[metrics]\nlisten = 1\n");
	refuse(0, "no service", "");
	refuse(0, "no service", "[agent]\nsize = 1G\n");
}

static void keys(void **state)
{
	refuse(4, "is 'interval' meant?", WEB "[agent]\nintervall = 3s\n");
	refuse(4, "these are: ring, interval", WEB "[agent]\ncolour = red\n");
	refuse(3, "'ring' is no key of [service]", WEB "ring = /x\n");
	refuse(4, "is given already, in line 3", WEB "overhead = 1\noverhead = 2\n");
	refuse(3, "has no value", WEB "version =\n");
}

static void values(void **state)
{
	refuse(4, "not an absolute path", WEB "[agent]\nring = here\n");
	refuse(4, "not a time", WEB "[agent]\ninterval = 60\n");
	refuse(4, "not a time", WEB "[agent]\ninterval = 2h\n");
	refuse(4, "not a time", WEB "[agent]\ninterval = 0s\n");
	refuse(4, "not a time", WEB "[agent]\nkeep = forever\n");
	refuse(4, "not a size", WEB "[agent]\nsize = 5\n");
	refuse(4, "not a percentage", WEB "[agent]\noverhead = none\n");
	parse(WEB "overhead = none\n");
	assert_true(!c.errors_cnt && c.services[0].overhead == 0);
	refuse(3, "not a percentage", WEB "overhead = 101%\n");
	refuse(3, "not a percentage", WEB "overhead = 0x10\n");
	refuse(4, "not a size from 1M to 900T", WEB "[agent]\nmemory = 0x100M\n");
	parse(WEB "[agent]\nmemory = 1T\n");
	assert_true(!c.errors_cnt && c.memory == 1ull << 40);
	refuse(3, "neither yes nor no", WEB "follow = maybe\n");
	refuse(3, "not a number of samples", WEB "sample-rate = often\n");
	refuse(2, "not a list of names and process ids", "[service web]\nprocess = /usr/x\n");
}

static void what_is_missing(void **state)
{
	refuse(1, "whom? Add process, unit", "[service web]\n");
	refuse(1, "exclude each other", "[service web]\nunit = a\ncgroup = b\n");
	refuse(3, "where is it? Add url", WEB "[receiver r]\n");
	refuse(3, "there is no [service db]",
	       WEB "[receiver r]\nurl = clickhouse://h/d\nservices = web,db\n");
	refuse(4, "no kind of receiver", WEB "[receiver r]\nurl = gopher://h/d\n");
}

static void globs(void **state)
{
	static const char *const keys[] = {"filter", "leave-out", "function", "session"};
	static const char *const wrong[] = {"[", "(", "f[a", "f(int", "x)"};
	char text[200];

	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 5; j++) {
			snprintf(text, sizeof(text), WEB "%s%s = %s\n", i < 2 ? "" : "[metrics]\n",
				 keys[i], wrong[j]);
			refuse(i < 2 ? 3 : 4, "has no counterpart", text);
		}
	}
	parse(WEB "filter = operator[]\nfilter = f(int)\nleave-out = \\[x\nfilter = [ab]*\n");
	assert_int_equal(c.errors_cnt, 0);
}

/* Other formats have other comments and quotes, which would become part of a name. */
static void foreign_syntax(void **state)
{
	refuse(2, "'#' begins a comment only where", "[service web]\nprocess = nginx # web\n");
	refuse(4, "'#' begins a comment only where", WEB "[agent]\nring = /srv/ring\t# here\n");
	refuse(2, "leave them out", "[service web]\nprocess = \"nginx\"\n");
	refuse(2, "leave them out", "[service web]\nprocess = 'nginx'\n");
	parse("[service web]\nprocess = c#,x ; comment\nversion = 1.2 #5\nfilter = {lambda()#1}\n");
	config__tell(&c, "text");
	assert_int_equal(c.errors_cnt, 0);
	parse("\xef\xbb\xbf" WEB); /* a byte-order mark */
	assert_int_equal(c.errors_cnt, 0);
}

static void times(void **state)
{
	refuse(5, "keep (60 s) is not longer than interval (3600 s)",
	       WEB "[agent]\nkeep = 1m\ninterval = 1h\n");
	refuse(5, "no recording would stay", WEB "[agent]\ninterval = 1m\nkeep = 60s\n");
	refuse(4, "no recording would stay", WEB "[agent]\nkeep = 30s\n");
	parse(WEB "[agent]\nkeep = 30s\ninterval = 5s\n");
	assert_int_equal(c.errors_cnt, 0);
	/* More nanoseconds than 64 bits count, and 1,192 s more than they do. */
	parse(WEB "[agent]\nkeep = 213504d\ninterval = 1h\n");
	assert_int_equal(c.errors_cnt, 0);
}

/* Values as config__read() has them: a NUL would end the text. */
static void bytes_that_are_no_text(void **state)
{
	static const char text[] = WEB "version = a\0b\nfilter = x\n# \0\n";
	char path[] = "/tmp/test_agent_config-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	config__clear(&c);
	assert_int_equal(config__read(path, &c), 0);
	unlink(path);
	assert_error(3, "a NUL byte or another control character");
	assert_int_equal(c.errors_cnt, 1);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Values that are well formed, but name a user or file that is missing or of another kind, as
 * `ring = /etc/passwd`. */
static void on_this_machine(void **state)
{
	static const struct {
		const char *value, *words; /* DIR: a folder that has the files below */
	} cases[] = {
		{"[agent]\nring = DIR/text", "no directory"},
		{"[agent]\nring = DIR/new/one", NULL},
		{"[agent]\nring = DIR", NULL},
		{"[agent]\nstatus = DIR", "is a directory"},
		{"[agent]\nstatus = DIR/text", "another file is there"},
		{"[agent]\nstatus = DIR/profile", "another file is there"},
		{"[agent]\nstatus = /dev/null", "another file is there"},
		{"[agent]\nstatus = DIR/status", NULL},
		{"[agent]\nstatus = DIR/empty", NULL},
		{"[agent]\nstatus = DIR/new", NULL},
		{"[service u]\nuser = no-such-user", "there is no such user"},
		{"[service u]\nuser = 4294967296", "from 0 to 4294967294"},
		{"[service u]\nuser = root", NULL},
		{RECEIVER "secret-file = DIR/new", "No such file"},
		{RECEIVER "secret-file = DIR", "is a directory"},
		{RECEIVER "secret-file = DIR/empty", "is empty"},
		{RECEIVER "secret-file = DIR/text", NULL},
		{RECEIVER "ca-file = DIR/new", "No such file"},
		{RECEIVER "ca-file = DIR", "is a directory"},
		{RECEIVER "ca-file = DIR/text", "no certificate"},
		{RECEIVER "ca-file = DIR/pem", NULL},
		{"[receiver r]\nurl = clickhouse://u:p@h/db", "sees the password"},
		{"[receiver r]\nurl = clickhouse://u@h:81/db", NULL},
	};
	char folder[] = "/tmp/test_agent_config-XXXXXX", command[100];

	assert_non_null(mkdtemp(folder));
	write_file(folder, "empty", "");
	write_file(folder, "text", "some text\n");
	write_file(folder, "pem", "a\n-----BEGIN CERTIFICATE-----\nMII\n");
	write_file(folder, "profile", "{\"schema\":1,\"proftrace\":\"1.0\",\"target\":{}}\n");
	write_file(folder, "status",
		   "{\"schema\":1,\"proftrace\":\"0.9-x\",\"pid\":12,\"time\":1}\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *value = cases[i].value, *at = strstr(value, "DIR");
		char text[300];

		snprintf(text, sizeof(text), WEB "%.*s%s%s\n",
			 (int)(at ? at - value : (long)strlen(value)), value, at ? folder : "",
			 at ? at + 3 : "");
		parse(text);
		assert_int_equal(c.errors_cnt, 0);
		assert_int_equal(config__look(&c), 0);
		config__tell(&c, value);
		assert_int_equal(c.errors_cnt, cases[i].words != NULL);
		if (cases[i].words)
			assert_error(!strncmp(value, RECEIVER, strlen(RECEIVER)) ? 5 : 4,
				     cases[i].words);
		for (size_t j = 0; j < c.errors_cnt; j++)
			assert_null(strstr(c.errors[j].text, "u:p@"));
	}
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Told all at once, in the order of lines. */
static void all_of_them(void **state)
{
	parse("[agent]\nring = x\nnonsense\nsizes = 1G\n[service web]\nprocess = nginx\n"
	      "follow = 3\n[service b]\n[what]\nkey = 1\n");
	assert_int_equal(c.errors_cnt, 6);
	for (size_t i = 1; i < c.errors_cnt; i++)
		assert_true(c.errors[i - 1].line <= c.errors[i].line);
	assert_error(2, "absolute");
	assert_error(3, "neither");
	assert_error(4, "'size' meant");
	assert_error(7, "yes nor no");
	assert_error(8, "whom?");
	assert_error(9, "no such section");
}

static void long_and_odd_lines(void **state)
{
	char text[5000] = WEB "version = ";
	size_t len = strlen(text);

	memset(text + len, 'x', 3000);
	refuse(3, "longer than 997 characters", text);
	memset(text + strlen(WEB) + 997, '\0', 3000);
	parse(text);
	assert_int_equal(c.errors_cnt, 0);
	assert_int_equal(strlen(c.services[0].version), 997 - strlen("version = "));
	snprintf(text, sizeof(text), WEB "ver\x1bsion = 1\n");
	parse(text);
	assert_int_equal(c.errors_cnt, 1);
	assert_null(strchr(c.errors[0].text, '\x1b'));
}

static char *told;

static void keep_told(enum log_level level, const char *line)
{
	char *all = NULL;

	assert_true(asprintf(&all, "%s%s\n", told ?: "", line) > 0);
	free(told);
	told = all;
}

/* Nobody reads 60,000 messages, and a process for each section would be no good. */
static void many_sections(void **state)
{
	char *text = NULL;
	size_t len, lines = 0;
	FILE *f = open_memstream(&text, &len);

	for (int i = 0; i < 60000; i++)
		fprintf(f, "[service s%d]\nuser = 0\n", i);
	fclose(f);
	parse(text);
	free(text);
	assert_int_equal(c.services_cnt, 1000);
	assert_int_equal(c.errors_cnt, 59000);
	assert_error(2001, "[service s1000]: there are 1000 such sections already");
	log_divert(keep_told);
	assert_int_equal(config__tell(&c, "text"), 59000);
	log_divert(NULL);
	for (const char *at = told; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 101);
	assert_non_null(strstr(told, "and 58900 more errors"));
	free(told);
}

static void metrics(void **state)
{
	char name[320];

	parse(WEB "[metrics]\n");
	assert_int_equal(c.errors_cnt, 0);
	assert_int_equal(c.metrics.line, 3);
	assert_int_equal(c.metrics.max, 100);
	assert_string_equal(net_address__name(&c.metrics.address, name, sizeof(name)),
			    "127.0.0.1:9464");
	parse(WEB "[metrics]\nlisten = [::1]:80\nfunction = a*\nfunction = region:b\n"
		  "session = handle\nmax-functions = 500\n");
	config__tell(&c, "text");
	assert_int_equal(c.errors_cnt, 0);
	assert_int_equal(c.metrics.max, 500);
	assert_int_equal(c.metrics.functions.cnt, 2);
	assert_string_equal(c.metrics.functions.items[1], "region:b");
	assert_int_equal(c.metrics.sessions.cnt, 1);
	refuse(4, "listen = nowhere: not as 9464", WEB "[metrics]\nlisten = nowhere\n");
	refuse(4, "not a number from 1 to 10000", WEB "[metrics]\nmax-functions = 0\n");
	refuse(5, "'listen' is given already, in line 4",
	       WEB "[metrics]\nlisten = 1\nlisten = 2\n");
	refuse(4, "is 'function' meant?", WEB "[metrics]\nfunctions = a\n");
	refuse(3, "no such section", WEB "[metrics all]\n");
	parse(WEB);
	assert_int_equal(c.metrics.line, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(everything, forget),
		cmocka_unit_test_teardown(what_is_not_given, forget),
		cmocka_unit_test_teardown(lines_that_are_none, forget),
		cmocka_unit_test_teardown(sections, forget),
		cmocka_unit_test_teardown(keys, forget),
		cmocka_unit_test_teardown(values, forget),
		cmocka_unit_test_teardown(what_is_missing, forget),
		cmocka_unit_test_teardown(all_of_them, forget),
		cmocka_unit_test_teardown(globs, forget),
		cmocka_unit_test_teardown(foreign_syntax, forget),
		cmocka_unit_test_teardown(times, forget),
		cmocka_unit_test_teardown(bytes_that_are_no_text, forget),
		cmocka_unit_test_teardown(on_this_machine, forget),
		cmocka_unit_test_teardown(metrics, forget),
		cmocka_unit_test_teardown(long_and_odd_lines, forget),
		cmocka_unit_test_teardown(many_sections, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
