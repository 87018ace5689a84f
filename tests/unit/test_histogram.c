// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions as they are drawn, through the sink for tables. */
#include "fixture.h"

static char *hists[4];
static struct sink_options opts = {.hists = hists};

/* The text between the table and the footer. */
static void expect_drawn(const struct profile *p, const char *expected)
{
	char *text = fixture_write(&sink_flat, p, &opts), *begin = strstr(text, "\n\n");
	char *end = strstr(text, "entered ");

	assert_non_null(begin);
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(begin + 2, expected);
	free(text);
}

static void choose(const char *a, const char *b)
{
	hists[0] = (char *)a;
	hists[1] = (char *)b;
	opts.hists_cnt = b ? 2 : 1;
}

static struct profile *make(void)
{
	struct profile *p = fixture_new();
	static const char *const aliases[] = {"twin"};

	fixture_function(p, "ns::get(int)");
	fixture_function(p, "put");
	fixture_function(p, "never");
	p->functions[0].symbol = "_ZN2ns3getEi";
	p->functions[1].aliases = aliases;
	p->functions[1].aliases_cnt = 1;
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 1, 100, 100);
	fixture_node(p, 0, 0, 1, 1, 200, 200);
	fixture_finish(p);
	return p;
}

#define GET "ns::get(int)  0 finished calls\n\n"
#define PUT "put  0 finished calls\n\n"

static void test_globs(void **state)
{
	static const char *const get[] = {"ns::get",	 "ns::get(int)", "ns::g*",
					  "_ZN2ns3*",	 "*::get",	 "prog:ns::get",
					  "pro?:ns::*t", "[n]s::get",	 "/usr/bin/prog:*get"};
	static const char *const put[] = {"put", "p[tu]t", "twin", "tw*"};
	struct profile *p = make();

	for (size_t i = 0; i < sizeof(get) / sizeof(*get); i++) {
		choose(get[i], NULL);
		expect_drawn(p, GET);
	}
	for (size_t i = 0; i < sizeof(put) / sizeof(*put); i++) {
		choose(put[i], NULL);
		expect_drawn(p, PUT);
	}
	choose("*", NULL);
	expect_drawn(p, PUT GET);
	choose("prog:", NULL);
	expect_drawn(p, PUT GET);
	choose("put", "ns::*");
	expect_drawn(p, PUT GET);
	profile__free(p);
}

static void test_unmatched_globs(void **state)
{
	struct profile *p = make();

	choose("never", NULL);
	expect_drawn(p, "--hist never: matches no function that was called\n\n");
	choose("put", "lib\033:put");
	expect_drawn(p, PUT "--hist lib\\x1b:put: matches no function that was called\n\n");
	profile__free(p);
}

/* Buckets of a power of two are one row, and those without calls have one, if others do around. */
static void test_rows(void **state)
{
	struct profile *p = make();

	fixture_bucket(p, 1, 0, 1);
	fixture_bucket(p, 1, 7, 2);
	fixture_bucket(p, 1, 16, 1000000); /* 16 ns */
	fixture_bucket(p, 1, 23, 500000);  /* 30 ns */
	fixture_bucket(p, 1, 24, 750000);  /* 32 ns */
	fixture_bucket(p, 1, 40, 0);
	choose("put", NULL);
	expect_drawn(p, "put  2,250,003 finished calls\n"
			"      0 ns up to     8 ns              3  ▏\n"
			"      8 ns up to    16 ns              0  \n"
			"     16 ns up to    32 ns      1,500,000  "
			"████████████████████████████████████████\n"
			"     32 ns up to    64 ns        750,000  ████████████████████\n"
			"\n");
	profile__free(p);
}

static size_t count_lines(const char *text)
{
	size_t cnt = 0;

	for (; (text = strchr(text, '\n')); text++)
		cnt++;
	return cnt;
}

/* One call in each power of two, most around 2^20: tails are one row each. */
static void test_tails(void **state)
{
	struct profile *p = make();
	char *text, *begin;

	for (uint32_t octave = 0; octave < 62; octave++)
		fixture_bucket(p, 1, 8 * octave + 3, octave >= 15 && octave < 33 ? 5 : 1);
	choose("put", NULL);
	text = fixture_write(&sink_flat, p, &opts);
	begin = strstr(text, "put  ");
	begin = strstr(begin, "put  134 finished calls\n");
	assert_non_null(begin);
	*strstr(text, "\n\nentered ") = '\0';
	assert_int_equal(count_lines(begin), 20);
	assert_non_null(strstr(begin, "           below   131 us             15  ███"));
	assert_non_null(strstr(begin, "    131 us up to   262 us              5  "));
	assert_non_null(strstr(begin, "    17.2 s up to   34.4 s              5  "));
	assert_non_null(strstr(begin, "    34.4 s  and      more             29  ███"));
	free(text);
	profile__free(p);
}

/* With as many rows as there may be nothing is cut. With most calls at one end there is one tail.
 */
static void test_one_tail(void **state)
{
	struct profile *p = make();

	for (uint32_t octave = 5; octave < 25; octave++)
		fixture_bucket(p, 1, 8 * octave, 1);
	choose("put", NULL);
	for (int i = 0; i < 2; i++) {
		char *text = fixture_write(&sink_flat, p, &opts);

		assert_true(!strstr(text, "below") == !i);
		assert_null(strstr(text, "more"));
		free(text);
		fixture_bucket(p, 1, 8 * 25, 9);
	}
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globs),	 cmocka_unit_test(test_unmatched_globs),
		cmocka_unit_test(test_rows),	 cmocka_unit_test(test_tails),
		cmocka_unit_test(test_one_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
