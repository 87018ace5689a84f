// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wherever an average stands beside a minimum and a maximum, it lies between them: also where calls
 * are open or were left without a return, which have a time but are in neither; where there was no
 * room in the distributions; and where more, or less, was taken out of the sum for the probes than
 * of single calls. There it is what the sum says, and single calls follow it, also those of paths.
 */
#include "fixture.h"

#include <sqlite3.h>
#include <unistd.h>

#include "calls/distribution.h"
#include "views/prune.h"

#define PROFILES  200
#define FUNCTIONS 20

static uint64_t state_of_chance = 88172645463325252;

/* xorshift64 (Marsaglia 2003) */
static uint64_t chance(uint64_t below)
{
	state_of_chance ^= state_of_chance << 13;
	state_of_chance ^= state_of_chance >> 7;
	state_of_chance ^= state_of_chance << 17;
	return state_of_chance % below;
}

/* From 1 ns to 17 minutes, each power of two as likely. */
static uint64_t any_duration(void)
{
	uint64_t ns = 1ull << chance(40);

	return ns + chance(ns);
}

/* A function with some finished calls, and some that are not. */
static void add_function(struct profile *p)
{
	uint32_t f = fixture_function(p, "function"), n;
	uint64_t sum = 0, min = UINT64_MAX, max = 0, finished = chance(6), others = chance(3);
	bool distributed = chance(4), all = chance(4);
	struct call_stats *s;

	for (uint64_t i = 0; i < finished; i++) {
		uint64_t ns = any_duration();

		sum += ns;
		min = ns < min ? ns : min;
		max = ns > max ? ns : max;
		if (distributed && (all || chance(2)))
			fixture_bucket(p, f, bucket__of(ns), 1);
	}
	for (uint64_t i = 0; i < others; i++)
		sum += any_duration();
	/* The probes' cost may be out of the sum, while the minimum and the maximum have it; or the
	 * other way round. */
	sum = sum - sum / 5 * chance(2) + sum / 5 * chance(2);
	n = fixture_node(p, 0, 0, f, finished + others, sum, sum);
	s = &p->nodes[n].stats;
	s->min_ns = min;
	s->max_ns = max;
	s->raw_total_ns = sum + sum / 4;
}

static struct profile *make(void)
{
	struct profile *p = fixture_new();

	fixture_thread(p, 1, 1, "x");
	for (int i = 0; i < FUNCTIONS; i++)
		add_function(p);
	fixture_finish(p);
	assert_int_equal(profile__prune(p, 0), 0);
	return p;
}

/* Reads "1.23 us", or "-" as less than 0, and moves on. */
static double read_time(const char **text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char unit[4], *end;
	double value;

	*text += strspn(*text, " ");
	if (**text == '-') {
		(*text)++;
		return -1;
	}
	value = strtod(*text, &end);
	assert_int_equal(sscanf(end, " %3[a-z]", unit), 1);
	*text = end + 1 + strlen(unit);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!strcmp(units[i].name, unit))
			return value * units[i].ns;
	}
	fail_msg("no unit: %s", unit);
	return 0;
}

/* Columns of -v, in their order. */
enum { TOTAL, SELF, CPU, AVG, MIN, P50, P90, P99, MAX, COLUMNS };

static void check_row(const char *row)
{
	double t[COLUMNS];

	row += strspn(row, " ");
	row += strspn(row, "0123456789,");
	for (int i = 0; i < COLUMNS; i++)
		t[i] = read_time(&row);
	if (t[AVG] < 0)
		return;
	/* Three digits are shown. */
	assert_true(t[MIN] >= 0 && t[AVG] >= 0.99 * t[MIN] && t[AVG] <= 1.01 * t[MAX]);
	for (int i = P50; i <= P99; i++)
		assert_true(t[i] < 0 || (t[i] >= 0.99 * t[MIN] && t[i] <= 1.01 * t[MAX]));
}

static void test_flat(void **state)
{
	/* Raw, no time is shown as a bound. */
	const struct sink_options opts = {.verbose = true, .raw = true};
	size_t rows = 0;

	for (int i = 0; i < PROFILES; i++) {
		struct profile *p = make();
		char *text = fixture_write(&sink_flat, p, &opts), *save, *row;

		assert_non_null(strstr(text, "AVG      MIN      P50      P90      P99      MAX"));
		for (row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
			if (!strstr(row, "  function "))
				continue;
			check_row(row);
			rows++;
		}
		free(text);
		profile__free(p);
	}
	assert_true(rows > PROFILES * FUNCTIONS / 2);
}

/* 1,000 calls: their shortest took 900 ns as calibrated, but 400 ns each more was taken out of the
 * sum; or they may have taken nothing at all, or 600 ns. */
static void test_sums_of_colder_probes(void **state)
{
	const struct sink_options opts = {.verbose = true};
	struct profile *p = fixture_new();
	char *text;

	fixture_thread(p, 1, 1, "x");
	for (int i = 0; i < 2; i++) {
		uint32_t f = fixture_function(p, i ? "unsure" : "sure");
		uint32_t n = fixture_node(p, 0, 0, f, 1000, 560000, 560000);
		struct call_stats *s = &p->nodes[n].stats;

		s->raw_total_ns = 2000000;
		s->error_ns = s->self_error_ns = i ? 600000 : 10000;
		s->min_ns = 900;
		s->max_ns = 1000;
		fixture_bucket(p, f, bucket__of(960), 1000); /* up to 1024 */
	}
	fixture_finish(p);
	text = fixture_write(&sink_flat, p, &opts);
	assert_non_null(
		strstr(text, "560 us   560 ns   468 ns   560 ns   568 ns   568 ns   568 ns"));
	assert_non_null(
		strstr(text, "<1 ms    <1 us    <1 us    <1 us    <1 us    <1 us    <1 us"));
	free(text);
	profile__free(p);
}

/* A main() of which 5 % less was taken out than in calibration, which is no more than a bucket is
 * wide: its only call is the average, too. */
static void test_one_call(void **state)
{
	const struct sink_options opts = {.verbose = true};
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "main"), n;
	struct call_stats *s;
	char *text;

	fixture_thread(p, 1, 1, "x");
	n = fixture_node(p, 0, 0, f, 1, 934000000, 934000000);
	s = &p->nodes[n].stats;
	s->raw_total_ns = 1440000000;
	s->min_ns = s->max_ns = 889000000;
	fixture_bucket(p, f, bucket__of(889000000), 1);
	fixture_finish(p);
	text = fixture_write(&sink_flat, p, &opts);
	assert_non_null(
		strstr(text, "934 ms   889 ms   889 ms   889 ms   889 ms   889 ms   889 ms"));
	free(text);
	profile__free(p);
}

/* The single figure of a query. */
static int64_t ask(sqlite3 *db, const char *query)
{
	sqlite3_stmt *statement;
	int64_t figure;

	assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	figure = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return figure;
}

/* Calls of the whole run are an estimate, and took 194 or 1,200 ns each by samples; those of bursts
 * took 220 to 900. */
static void test_estimated_averages(void **state)
{
	const struct sink_options opts = {.verbose = true};
	struct profile *p = fixture_new();
	char path[] = "/tmp/test_averages-XXXXXX", *text;
	sqlite3 *db;

	p->sample_period_ns = 10000000;
	fixture_thread(p, 1, 1, "x");
	for (int i = 0; i < 2; i++) {
		uint32_t f = fixture_function(p, i ? "longer" : "shorter");
		uint64_t ns = i ? 1200000000 : 194000000;
		uint32_t n = fixture_node(p, 0, 0, f, 1000000, ns, ns);
		struct call_stats *s = &p->nodes[n].stats;

		s->burst_calls = 1000000;
		s->samples = 100;
		s->sampled_ns = s->varied_ns = ns;
		s->min_ns = 220;
		s->max_ns = 900;
		fixture_bucket(p, f, bucket__of(230), 10);
		fixture_bucket(p, f, bucket__of(880), 10);
	}
	fixture_finish(p);
	text = fixture_write(&sink_json, p, &opts);
	assert_non_null(strstr(text, "\"min_ns\":194,\"max_ns\":900"));
	assert_non_null(strstr(text, "\"min_ns\":220,\"max_ns\":1200"));
	free(text);
	text = fixture_write(&sink_flat, p, &opts);
	assert_non_null(strstr(text, "~194 ns  ~194 ns"));
	assert_non_null(strstr(text, "~1.20 us  ~220 ns"));
	assert_null(strstr(text, "~900 ns  longer"));
	free(text);
	close(mkstemp(path));
	assert_int_equal(sink_sqlite.write_file(p, &opts, path), 0);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(ask(db, "SELECT count(*) FROM functions WHERE "
				 "min_ns = 194 AND max_ns = 900 AND average_ns = 194 OR "
				 "min_ns = 220 AND max_ns = 1200 AND average_ns = 1200"),
			 2);
	sqlite3_close(db);
	unlink(path);
	profile__free(p);
}

static void test_sqlite(void **state)
{
	const struct sink_options opts = {0};
	char path[] = "/tmp/test_averages-XXXXXX";
	int64_t averages = 0;

	close(mkstemp(path));
	for (int i = 0; i < PROFILES / 10; i++) {
		struct profile *p = make();
		sqlite3 *db;

		assert_int_equal(sink_sqlite.write_file(p, &opts, path), 0);
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(ask(db, "SELECT count(*) FROM hot JOIN functions f "
					 "ON f.id = hot.function WHERE avg_ns < f.min_ns "
					 "OR avg_ns > f.max_ns"),
				 0);
		assert_int_equal(ask(db, "SELECT count(*) FROM paths p JOIN functions f "
					 "ON f.id = p.function WHERE p.min_ns < f.min_ns "
					 "OR p.max_ns > f.max_ns"),
				 0);
		averages += ask(db, "SELECT count(avg_ns) FROM hot");
		sqlite3_close(db);
		profile__free(p);
	}
	unlink(path);
	assert_true(averages > PROFILES / 10 * FUNCTIONS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat), cmocka_unit_test(test_one_call),
		cmocka_unit_test(test_sums_of_colder_probes),
		cmocka_unit_test(test_estimated_averages), cmocka_unit_test(test_sqlite)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
