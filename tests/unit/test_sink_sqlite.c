// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "timeline_array.h"

static const struct sink_options plain;
static char path[] = "/tmp/proftrace-test-sqlite-XXXXXX";

static int make_path(void **state)
{
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int remove_path(void **state)
{
	return unlink(path);
}

static int print_row(void *out, int columns, char **values, char **names)
{
	for (int i = 0; i < columns; i++)
		fprintf(out, "%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
	fputc('\n', out);
	return 0;
}

/* Compares the rows that a query returns from the profile's database, a row a line. */
static void expect(const char *sql, const char *expected)
{
	char *text = NULL, *message = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	sqlite3_exec(db, sql, print_row, out, &message);
	fclose(out);
	if (message)
		fail_msg("%s: %s", sql, message);
	assert_string_equal(text, expected);
	free(text);
	sqlite3_close(db);
}

static void write_it(const struct profile *p)
{
	assert_int_equal(sink_sqlite.write_file(p, &plain, path), 0);
	expect("PRAGMA integrity_check; PRAGMA foreign_key_check", "ok\n");
}

static void test_tables(void **state)
{
	static const pid_t pids[] = {100};
	static char *const command[] = {"prog", "a 'b'\xff", NULL};
	static const char *const aliases[] = {"twin"};
	static const struct profile_skip skipped[] = {{"x\xff", "m", "too small"}};
	struct profile *p = fixture_small();

	p->functions[1].file = "work.c";
	p->functions[1].line = 12;
	p->functions[1].aliases = aliases;
	p->functions[1].aliases_cnt = 1;
	p->functions[2].sampled = 100;
	p->functions[2].kind = FUNCTION_REGION;
	p->nodes[2].stats.min_ns = UINT64_MAX;
	p->nodes[4].stats.off_ns = p->nodes[4].stats.off_self_ns = 1000;
	p->functions[3].name = "le'af\xff";
	p->target = (struct profile_target){pids, 1, "/usr/bin/prog", command};
	p->probes.skipped = skipped;
	p->probes.skipped_cnt = 1;
	p->probes.exits_return = 4;
	p->max_overhead = 2.5;
	p->accounting.probe_ns = 100;
	p->accounting.cpu_ns = 2100;
	p->accounting.untriggered = 7;
	p->paused_ns = 2500000;
	fixture_bucket(p, 1, 200, 3);
	fixture_drop(p, (struct profile_drop){2, 7, 1234.5, 12.25, 100, "dear"});
	fixture_drop(p, (struct profile_drop){4, 8, 1, 2, 0, "dear", 9});
	write_it(p);
	expect("SELECT * FROM meta",
	       "calls_missing|0\ncalls_recorded|0\nduration_ns|10000000000\n"
	       "max_overhead_percent|2.5\npaused_ns|2500000\nproftrace|" PROFTRACE_VERSION
	       "\nraw|0\nstart_time|1700000000.25\n");
	expect("PRAGMA user_version", "1\n");
	expect("SELECT * FROM target",
	       "pid|100\nexec|/usr/bin/prog\nargument|prog\nargument|a 'b'\uFFFD\n");
	expect("SELECT * FROM functions WHERE id = 1",
	       "1|work|work|/usr/bin/prog|4096|work.c|12|3|700000|694000|0|0|700000|694000|700000|"
	       "694000|0|0|233333|233333|233333|233333|233333|0|0|function|1|NULL|"
	       "exact|0|0|0|all|233333\n");
	expect("SELECT name, durations, average_ns FROM functions",
	       "main|all|1000000\nwork|all|233333\nidle|all|200000\nle'af\uFFFD|all|4\n");
	expect("SELECT name, avg_ns FROM hot ORDER BY function LIMIT 2",
	       "main|1000000\nwork|233333\n");
	expect("SELECT name, kind FROM functions WHERE kind <> 'function'", "idle|region\n");
	expect("SELECT id, name, file, line, p50_ns, sampled, dropped FROM functions",
	       "0|main|NULL|NULL|NULL|0|0\n1|work|work.c|12|233333|0|0\n"
	       "2|idle|NULL|NULL|NULL|100|1\n3|le'af\uFFFD|NULL|NULL|NULL|0|0\n");
	expect("SELECT * FROM aliases", "1|twin\n");
	expect("SELECT * FROM threads", "0|100|101|NULL|prog|prog-100/101\n");
	expect("SELECT * FROM paths WHERE id IN (1, 2, 4)",
	       "1|NULL|0|0|0|1|1000000|100000|0|0|1000000|100000|1000000|100000|0|0|1000000|"
	       "1000000|exact|0|0|0\n"
	       "2|1|0|2|1|1|200000|200000|0|0|200000|200000|200000|200000|0|0|NULL|NULL|exact|0|"
	       "0|0\n"
	       "4|3|0|3|2|1234|6000|6000|1000|1000|5000|5000|6000|6000|0|0|4|4|exact|0|0|0\n");
	expect("SELECT * FROM buckets", "1|134217728|150994944|3\n");
	expect("SELECT * FROM drops", "2|idle|/usr/bin/prog|7|1234.5|12.25|100|dear|NULL\n"
				      "NULL|never|/usr/bin/prog|8|1.0|2.0|0|dear|9\n");
	expect("SELECT * FROM probes",
	       "functions||5\ninstrumented||0\nexit|return|4\nexit|sites|0\nexit|none|0\n");
	expect("SELECT * FROM skipped", "x\uFFFD|m|too small\n");
	expect("SELECT * FROM accounting", "1239|1239|0|0|0|0|0|100|2000|5.0|0|7|0|0|0|0|0|0|0|0|0|"
					   "0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n");
	expect("SELECT count(*) FROM calls", "0\n");
	expect("SELECT name, calls, total_ms, self_ms, self_percent FROM hot LIMIT 2",
	       "work|3|0.7|0.694|69.4\nidle|1|0.2|0.2|20.0\n");
	expect("SELECT caller, callee, calls, total_ns FROM callers ORDER BY 1, 2",
	       "NULL|main|1|1000000\nmain|idle|1|200000\nmain|work|3|700000\n"
	       "work|le'af\uFFFD|1234|6000\n");
	expect("SELECT * FROM stacks ORDER BY path",
	       "1|main\n2|main;idle\n3|main;work\n4|main;work;le'af\uFFFD\n");
	expect("SELECT * FROM thread_times", "0|prog-100/101|1239|1000000|999000|1000\n");
	profile__free(p);
}

static void test_lines(void **state)
{
	struct profile_line lines[] = {
		{"work.c", 12, 1, 0, 3, 500, 10, NULL, 1, 0},
		{"work.c", 12, 3, 1, 40, 600, 20, NULL, 0, 0},
		{"work.c", 12, 2, 0, 7, 50, 5, NULL, 0, 1},
		{"work.c", 13, 4, 0, 0, 0, 0, "inside a loop", 0, 0},
	};
	struct profile_inline inlines[] = {{"twice", "leaf.c", 5, 0}};
	struct profile *p = fixture_small();

	p->lines = lines;
	p->lines_cnt = 4;
	p->inlines = inlines;
	p->inlines_cnt = 1;
	write_it(p);
	expect("SELECT * FROM lines", "0|work.c|12|43|1150|35|1|NULL\n"
				      "1|work.c|13|0|0|0|0|inside a loop\n");
	expect("SELECT * FROM line_parts", "0|1|NULL|3|500|10|1|0|NULL\n"
					   "0|3|twice|40|600|20|0|0|NULL\n"
					   "0|2|NULL|7|50|5|0|1|NULL\n"
					   "1|NULL|NULL|0|0|0|0|0|inside a loop\n");
	p->lines = NULL;
	p->inlines = NULL;
	profile__free(p);
}

static void test_calls(void **state)
{
	static const struct timeline_call calls[] = {
		{1, 10, 100, 5}, {3, 20, 50, 0}, {4, 20, 20, 0}, {3, 50, 120, 1}, {1, 200, 300, 0},
	};
	static const uint32_t threads[5];
	struct timeline_array timeline;
	struct profile *p = fixture_small();

	timeline_array__init(&timeline, calls, threads, 5);
	timeline.base.lost = 3;
	p->timeline = &timeline.base;
	write_it(p);
	expect("SELECT * FROM calls", "1|NULL|1|0|10|100|5\n2|1|3|1|20|50|0\n3|2|4|2|20|20|0\n"
				      "4|1|3|1|50|100|1\n5|NULL|1|0|200|300|0\n");
	expect("SELECT * FROM call_list WHERE id = 2", "2|prog-100/101|work|1|20|30|0|1|3\n");
	expect("SELECT value FROM meta WHERE key LIKE 'calls%' ORDER BY key", "3\n1\n");
	profile__free(p);
}

/* Two goroutines, a thread without calls before them: numbered as in the JSON document. */
static void test_threads(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "idle");
	fixture_thread(p, 1, 0, "go");
	fixture_thread(p, 1, 2, "t\xff");
	p->threads[1].goroutine = 7;
	fixture_node(p, 1, 0, 0, 1, 1, 1);
	fixture_node(p, 2, 0, 0, 1, 1, 1);
	fixture_finish(p);
	write_it(p);
	expect("SELECT * FROM threads",
	       "0|1|7|7|go|go-1/goroutine_7\n1|1|2|NULL|t\uFFFD|t\uFFFD-1/2\n");
	expect("SELECT id, thread FROM paths", "1|0\n2|1\n");
	profile__free(p);
}

static void test_large_numbers(void **state)
{
	struct profile *p = fixture_small();

	p->accounting.entered = UINT64_MAX;
	p->duration_ns = INT64_MAX;
	write_it(p);
	expect("SELECT entered FROM accounting", "9223372036854775807\n");
	expect("SELECT value FROM meta WHERE key = 'duration_ns'", "9223372036854775807\n");
	profile__free(p);
}

static void test_replaces_what_was_there(void **state)
{
	struct profile *p = fixture_small();

	write_it(p);
	write_it(p);
	expect("SELECT count(*) FROM threads", "1\n");
	profile__free(p);
}

static int broken_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	*call = (struct timeline_call){1, 1, 2, 0};
	return ((struct timeline_array *)t)->at++ < 100000 ? 1 : -EBADMSG;
}

/* No file is left that could be taken for a whole profile. */
static void test_error_leaves_nothing(void **state)
{
	static struct timeline_array timeline;
	struct profile *p = fixture_small();
	struct stat st;

	timeline_array__init(&timeline, NULL, NULL, 0);
	timeline.base.next = broken_next;
	p->timeline = &timeline.base;
	assert_int_equal(sink_sqlite.write_file(p, &plain, path), -EBADMSG);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	profile__free(p);
}

/* A disk that is full, or nearly. */
static void test_no_room(void **state)
{
	struct profile *p = fixture_small();
	struct rlimit limit, small;
	struct stat st;
	rlim_t room;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	for (room = 0; room < 65536; room += 16384) {
		int err;

		small = (struct rlimit){room, limit.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		err = sink_sqlite.write_file(p, &plain, path);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_true(err < 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, 0);
	}
	signal(SIGXFSZ, SIG_DFL);
	profile__free(p);
}

static void test_other_files(void **state)
{
	struct profile *p = fixture_small();

	assert_int_equal(sink_sqlite.write_file(p, &plain, "/dev/null"), -ESPIPE);
	assert_int_equal(sink_sqlite.write_file(p, &plain, "/nowhere/x.db"), -ENOENT);
	profile__free(p);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(test_tables),
		WITH_FILE(test_lines),
		WITH_FILE(test_calls),
		WITH_FILE(test_threads),
		WITH_FILE(test_large_numbers),
		WITH_FILE(test_replaces_what_was_there),
		WITH_FILE(test_error_leaves_nothing),
		WITH_FILE(test_no_room),
		cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
