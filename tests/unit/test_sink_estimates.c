// SPDX-License-Identifier: GPL-2.0-or-later
/* How each format marks what is an estimate; that of pprof, which is packed, is tested end to end.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "calls/distribution.h"
#include "estimate_fixture.h"

static const struct sink_options plain, calls = {.weight = WEIGHT_CALLS}, narrow = {.columns = 80},
					verbose = {.verbose = 1};

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
	contains(&sink_tree, &narrow, " ~90.0k  ~1.94 s  ~1.90 s   97.0%  └hot\n");
	contains(&sink_tree, &plain, "\n~: " NOTE "\n");
	contains(&sink_flat, &plain, " ~130,000  ~2.94 s  ~2.90 s");
	/* Behind each figure its error. */
	contains(
		&sink_tree, &verbose,
		"  ~90,000      900  ~1.94 s     0 ns  ~1.90 s   138 ms  ~1.94 s   97.0%  └─hot\n");
	contains(&sink_flat, &verbose, " ~130,000    1,500  ~2.94 s     0 ns  ~2.90 s   170 ms");
}

/* Figures of one row are of the same calls. The function was dropped: 9,900 of 10,000 calls are
 * scaled up, within 30 %, and 100 were recorded, 50 us each, `taken_ns` of probes beside it;
 * `samples` have met it since. */
static void expect_row(uint64_t taken_ns, uint64_t samples, const char *row, const char *basis)
{
	struct profile *p = fixture_new();
	struct call_stats *s;
	char *text;

	fixture_function(p, "dear");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 10000, 5000000 + samples * PERIOD_NS,
		     5000000 + samples * PERIOD_NS);
	p->sample_period_ns = PERIOD_NS;
	p->accounting.bursts = 1;
	s = &p->nodes[1].stats;
	s->burst_calls = 9900;
	s->calls_varied = 3000 * 3000;
	s->samples = samples;
	s->sampled_ns = s->varied_ns = samples * PERIOD_NS;
	s->raw_total_ns += taken_ns;
	s->min_ns = s->max_ns = 50000;
	fixture_bucket(p, 0, bucket__of(50000), 100);
	fixture_drop(p, (struct profile_drop){.at_ns = 1, .calls_per_second = 1});
	fixture_finish(p);
	text = fixture_write(&sink_flat, p, &plain);
	if (!strstr(text, row))
		fail_msg("%s\nis not in\n%s", row, text);
	free(text);
	text = fixture_write(&sink_csv, p, &plain);
	if (!strstr(text, basis))
		fail_msg("%s\nis not in\n%s", basis, text);
	free(text);
	profile__free(p);
}

static void test_one_basis(void **state)
{
	/* TOTAL is of the whole run, by samples; probes took 10 us of each call. */
	expect_row(1000000, 10,
		   "~10,000 ±30%  ~105 ms  ~105 ms  ~105 ms ~10.5 us ~50.0 us ~50.0 us ~50.0 us "
		   "~50.0 us  100.0%  dear*",
		   ",recorded\r\n");
	/* No sample has met it: the 5 ms are of 100 calls, CALLS are 10,000, which may have taken
	 * as much as a sample stands for. */
	expect_row(1000000, 0,
		   "~10,000 ±30%   <10 ms   <10 ms   <10 ms        - ~50.0 us ~50.0 us ~50.0 us "
		   "~50.0 us  100.0%  dear*",
		   ",recorded\r\n");
	/* Probes took twice the calls' time: what is left of single calls says nothing. */
	expect_row(10000000, 10,
		   "~10,000 ±30%  ~105 ms  ~105 ms  ~105 ms ~10.5 us        -        -        - "
		   "       -  100.0%  dear*",
		   ",unresolved\r\n");
}

/* Calls were counted until the drop, and time goes on by samples: no average comes of both. */
static void test_dropped_without_bursts(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "dear");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 100, 105000000, 105000000);
	p->sample_period_ns = PERIOD_NS;
	p->nodes[1].stats.samples = 10;
	p->nodes[1].stats.sampled_ns = p->nodes[1].stats.varied_ns = 100000000;
	p->nodes[1].stats.min_ns = p->nodes[1].stats.max_ns = 50000;
	fixture_bucket(p, 0, bucket__of(50000), 100);
	fixture_drop(p, (struct profile_drop){.at_ns = 1, .calls_per_second = 1});
	fixture_finish(p);
	text = fixture_write(&sink_flat, p, &plain);
	if (!strstr(text, "      100  ~105 ms  ~105 ms  ~105 ms  50.0 us  50.0 us"))
		fail_msg("%s", text);
	free(text);
	profile__free(p);
}

/* A large error stands beside its figure, and the columns behind it stay aligned. */
static void test_large_error(void **state)
{
	struct profile *p = estimate_fixture();
	char *text;

	p->nodes[2].stats.calls_varied = 50000ull * 50000;
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	if (!strstr(text, "        1        2.00 s ~60.0 ms") ||
	    !strstr(text, "  ~90,000 ±56%  ~1.94 s"))
		fail_msg("%s", text);
	free(text);
	profile__free(p);
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
	contains(&sink_csv, &plain, "function,1,,exact,0,139283882,0,all\r\n2,");
	contains(&sink_csv, &plain, "function,1,,burst,900,137840487,190,all\r\n3,");
	contains(&sink_csv, &plain, "function,1,,sample,0,20000000,4,all\r\n");
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

/* Where each wait was looked at its time is measured: one figure has one mark, or none. */
static void expect_wait(uint64_t waits_estimated, const char *rows)
{
	struct profile *p = fixture_new();
	uint32_t main_ = fixture_function(p, "main"), read_ = fixture_function(p, "read");
	uint32_t pipe_ = fixture_function(p, "[pipe]"), n;
	char *text;

	p->sample_period_ns = PERIOD_NS;
	p->accounting.waits = 100;
	p->accounting.waits_estimated = waits_estimated;
	fixture_thread(p, 1, 1, "one");
	n = fixture_node(p, 0, 0, main_, 1, 2000000000, 1919700000);
	n = fixture_node(p, 0, n, read_, 0, 80300000, 0);
	p->nodes[n].stats.off_ns = 80300000;
	n = fixture_node(p, 0, n, pipe_, 0, 80300000, 80300000);
	p->nodes[n].stats.off_ns = p->nodes[n].stats.off_self_ns = 80300000;
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	if (!strstr(text, rows))
		fail_msg("%s\nis not in\n%s", rows, text);
	free(text);
	profile__free(p);
}

static void test_marks_of_waits(void **state)
{
	expect_wait(0, "        -  80.3 ms  80.3 ms     0 ns    4.0%  └─read › [pipe]\n");
	expect_wait(16, "        - ~80.3 ms ~80.3 ms    ~0 ns    4.0%  └─read › [pipe]\n");
}

static void test_one_wait(void **state)
{
	struct profile *p = estimate_fixture();
	char *text;

	p->accounting.waits_lost = 1;
	text = fixture_write(&sink_flat, p, &plain);
	assert_non_null(strstr(text, "; 1 wait without a place"));
	free(text);
	profile__free(p);
}

static void test_svg(void **state)
{
	contains(&sink_svg, &plain, "<title>main (2.00 s, 66.7%)</title>");
	/* 190 and 4 samples of 10 ms. */
	contains(&sink_svg, &plain, "<title>hot (~1.94 s ± 139 ms, 64.7%)</title>");
	contains(&sink_svg, &plain, "<title>memcpy (~40.0 ms ± 20.0 ms, 1.3%)</title>");
	contains(&sink_svg, &plain, "; paler ones are estimated, as is said below them</text>");
	contains(&sink_svg, &plain, ">paler: " NOTE "</text>");
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
		cmocka_unit_test(test_one_basis),
		cmocka_unit_test(test_dropped_without_bursts),
		cmocka_unit_test(test_large_error),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_one_wait),
		cmocka_unit_test(test_marks_of_waits),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_tools),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_sqlite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
