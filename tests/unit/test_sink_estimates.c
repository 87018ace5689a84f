// SPDX-License-Identifier: GPL-2.0-or-later
/* How each format marks what is an estimate; that of pprof, which is packed, is tested end to end.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "estimate_fixture.h"

static const struct sink_options plain, calls = {.weight = WEIGHT_CALLS}, verbose = {.verbose = 1};

#define NOTE                                                                          \
	"estimated from 294 samples of 10.0 ms CPU time each, calls from 4 bursts of" \
	" 20.0 ms in all; 100.0% with all callers"

static void contains(const struct sink *sink, const struct sink_options *opts, const char *what)
{
	struct profile *p = estimate_fixture();
	char *text = fixture_write(sink, p, opts);

	if (!strstr(text, what))
		fail_msg("%s\nis not in\n%s", what, text);
	free(text);
	profile__free(p);
}

static void test_text(void **state)
{
	contains(&sink_tree, &plain,
		 "        1   2.00 s ~60.0 ms   2.00 s  100.0%  main\n"
		 "  ~90,000  ~1.94 s  ~1.90 s  ~1.94 s   97.0%  └─hot\n"
		 "        - ~40.0 ms ~40.0 ms ~40.0 ms    2.0%    └─memcpy\n");
	contains(&sink_tree, &plain, "\n~: " NOTE "\n");
	contains(&sink_flat, &plain, " ~130,000  ~2.94 s  ~2.90 s");
	/* Behind each figure its error. */
	contains(
		&sink_tree, &verbose,
		"  ~90,000      900  ~1.94 s     0 ns  ~1.90 s   138 ms  ~1.94 s   97.0%  └─hot\n");
	contains(&sink_flat, &verbose, " ~130,000    1,500  ~2.94 s     0 ns  ~2.90 s   170 ms");
}

static void test_json(void **state)
{
	contains(&sink_json, &plain,
		 "\"source\":\"burst\",\"samples\":290,\"calls_error\":1500,"
		 "\"cpu_error_ns\":170293863,");
	contains(&sink_json, &plain,
		 "\"source\":\"sample\",\"samples\":4,\"calls_error\":0,\"cpu_error_ns\":20000000");
	contains(&sink_json, &plain, "\"bursts\":4,\"burst_ns\":20000000,");
}

static void test_csv(void **state)
{
	contains(&sink_csv, &plain, "function,1,,exact,0,139283882\r\n2,");
	contains(&sink_csv, &plain, "function,1,,burst,900,137840487\r\n3,");
	contains(&sink_csv, &plain, "function,1,,sample,0,20000000\r\n");
}

/* Names are what consumers add up by: marks stand elsewhere. */
static void test_tools(void **state)
{
	contains(&sink_folded, &plain, "one;main;hot;memcpy 40000000\n");
	contains(&sink_callgrind, &plain, "\ndesc: " NOTE "\n");
	/* 1.94 s of 2 s, and all. */
	contains(&sink_speedscope, &plain, "\"name\":\"one-1/1 (~97.0% estimated)\"");
	contains(&sink_speedscope, &plain, "\"name\":\"two-1/2 (~100.0% estimated)\"");
	contains(&sink_speedscope, &plain, "{\"name\":\"hot\",");
	contains(&sink_firefox, &plain, "{\"name\":\"Estimated\",\"color\":\"lightblue\",");
	contains(&sink_firefox, &plain, "\"category\":[1,2,2],");
}

static void test_svg(void **state)
{
	contains(&sink_svg, &plain, "<title>main (2.00 s, 66.7%)</title>");
	/* 190 and 4 samples of 10 ms. */
	contains(&sink_svg, &plain, "<title>hot (~1.94 s ± 139 ms, 64.7%)</title>");
	contains(&sink_svg, &plain, "<title>memcpy (~40.0 ms ± 20.0 ms, 1.3%)</title>");
	contains(&sink_svg, &plain, "; paler ones are " NOTE "</text>");
	contains(&sink_svg, &calls, "<title>hot (~90,000 ± 900 calls, 69.2%)</title>");
}

static int take_text(void *out, int columns, char **values, char **names)
{
	snprintf(out, 64, "%s %s %s", values[0], values[1], values[2]);
	return 0;
}

static void test_sqlite(void **state)
{
	char path[] = "/tmp/proftrace-test-XXXXXX", text[64] = "";
	struct profile *p = estimate_fixture();
	int fd = mkstemp(path);
	sqlite3 *db;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sink_sqlite.write_file(p, &plain, path), 0);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	sqlite3_exec(db, "SELECT source, calls_error, cpu_error_ns FROM functions WHERE id = 1",
		     take_text, text, NULL);
	assert_string_equal(text, "burst 1500 170293863");
	sqlite3_exec(db, "SELECT source, samples, cpu_error_ns FROM paths WHERE id = 3", take_text,
		     text, NULL);
	assert_string_equal(text, "sample 4 20000000");
	sqlite3_close(db);
	unlink(path);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text), cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),  cmocka_unit_test(test_tools),
		cmocka_unit_test(test_svg),  cmocka_unit_test(test_sqlite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
