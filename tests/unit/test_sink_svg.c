// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

static const struct sink_options wall, calls = {.weight = WEIGHT_CALLS};

static void expect_copy(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s\nin %s", part, text);
}

static size_t count(const char *text, const char *part)
{
	size_t cnt = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		cnt++;
	return cnt;
}

/* Processes have their program's name before their numbers, unless they have several. */
static void test_title(void **state)
{
	static const pid_t pids[] = {7, 8};
	struct profile *p = fixture_small();
	char *text;

	fixture_thread(p, 7, 7, "worker");
	fixture_thread(p, 7, 9, "helper");
	fixture_thread(p, 8, 8, "worker");
	p->target.pids = pids;
	p->target.pids_cnt = 2;
	text = fixture_write(&sink_svg, p, &wall);
	expect_copy(text, "<title>worker, PID 7, 8</title>");
	free(text);
	fixture_thread(p, 8, 8, "other");
	text = fixture_write(&sink_svg, p, &wall);
	expect_copy(text, "<title>PID 7, 8</title>");
	free(text);
	profile__free(p);
}

/* Where samples tell all CPU time, the graph is of that: of the 700 us in work(), 600 are waits. */
static void test_cpu_time(void **state)
{
	static const struct sink_options chosen = {.weight_chosen = true};
	struct profile *p = fixture_small();
	char *text;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		if (!strcmp(p->functions[p->nodes[i].function].name, "work"))
			p->nodes[i].stats.off_ns = p->nodes[i].stats.off_self_ns = 600000;
	p->sample_period_ns = 10000;
	p->accounting.cpu_ns = 400000;
	text = fixture_write(&sink_svg, p, &wall);
	expect_copy(text, "<title>work (100 us, 25.0%)</title>");
	expect_copy(text, "as wide as its time on a CPU (-w wall: all time)");
	free(text);
	text = fixture_write(&sink_svg, p, &chosen);
	expect_copy(text, "<title>work (700 us, 70.0%)</title>");
	expect_copy(text, "as wide as its time;");
	free(text);
	profile__free(p);
}

static void test_boxes(void **state)
{
	struct profile *p = fixture_small();
	char *text = fixture_write(&sink_svg, p, &wall);

	expect_copy(text, "<title>all (1.00 ms, 100.0%)</title><rect x=\"10.0000\" y=\"50\" "
			  "width=\"1180.0000\"");
	expect_copy(text, "<title>prog (1.00 ms, 100.0%)</title>");
	/* The dearest callee comes first: work, then idle, then what main does itself. */
	expect_copy(text, "<title>work (700 us, 70.0%)</title><rect x=\"10.0000\" y=\"101\" "
			  "width=\"826.0000\"");
	expect_copy(text, "<title>idle (200 us, 20.0%)</title><rect x=\"836.0000\" y=\"101\" "
			  "width=\"236.0000\"");
	expect_copy(text, "a box is a path, as wide as its time</text>");
	assert_int_equal(count(text, "<g class=\"f\">"), 6);
	free(text);
	text = fixture_write(&sink_svg, p, &calls);
	expect_copy(text, "<title>all (1,239 calls, 100.0%)</title>");
	free(text);
	profile__free(p);
}

static void test_process_frames(void **state)
{
	struct sink_options apart = {.process_frames = true};
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "f");
	for (pid_t pid = 7; pid <= 8; pid++)
		fixture_node(p, fixture_thread(p, pid, pid, "worker"), 0, 0, 1, 500, 500);
	fixture_finish(p);
	text = fixture_write(&sink_svg, p, &wall);
	expect_copy(text, "<title>worker (1.00 us, 100.0%)</title>");
	free(text);
	text = fixture_write(&sink_svg, p, &apart);
	expect_copy(text, "<title>worker-7 (500 ns, 50.0%)</title>");
	expect_copy(text, "<title>worker-8 (500 ns, 50.0%)</title>");
	free(text);
	profile__free(p);
}

static void test_shares_are_escaped(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "often");
	fixture_function(p, "once");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 9000, 100, 100);
	fixture_node(p, 0, 0, 1, 1, 1, 1);
	fixture_finish(p);
	text = fixture_write(&sink_svg, p, &calls);
	expect_copy(text, "<title>once (1 call, &lt;0.1%)</title>");
	free(text);
	profile__free(p);
}

static void test_names_are_harmless(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "</title><script>alert(1)</script>");
	fixture_function(p, "a&b\033]]>\"'");
	fixture_function(p, "\xef\xbf\xbe\xff");
	fixture_thread(p, 1, 1, "<x>");
	for (uint32_t f = 0; f < 3; f++)
		fixture_node(p, 0, 0, f, 1, 100, 100);
	fixture_finish(p);
	text = fixture_write(&sink_svg, p, &wall);
	expect_copy(text, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; (100 ns");
	expect_copy(text, "<title>a&amp;b\\x1b]]&gt;\"' (");
	expect_copy(text, "<title>?\\xff (");
	expect_copy(text, "<title>&lt;x&gt; (");
	assert_int_equal(count(text, "<script>"), 1);
	free(text);
	profile__free(p);
}

/* However many paths there are, and however deep. */
static void test_bounds(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n = 0;
	char *text;

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	for (int i = 0; i < 5000; i++)
		n = fixture_node(p, 0, n, 0, 1, 1000000 - i, 1);
	for (int i = 0; i < 100000; i++)
		fixture_node(p, 0, 0, 0, 1, 1, 1);
	fixture_finish(p);
	text = fixture_write(&sink_svg, p, &wall);
	assert_true(count(text, "<g class=\"f\">") <= 50000 + 2);
	assert_true(count(text, "<g class=\"f\">") >= 1000);
	expect_copy(text, " paths are too narrow or too deep to be drawn</text>");
	free(text);
	profile__free(p);
}

static void test_nothing(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_finish(p);
	text = fixture_write(&sink_svg, p, &wall);
	expect_copy(text, ">nothing was recorded</text>");
	assert_int_equal(count(text, "<g class=\"f\">"), 0);
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_title),
		cmocka_unit_test(test_cpu_time),
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_process_frames),
		cmocka_unit_test(test_shares_are_escaped),
		cmocka_unit_test(test_names_are_harmless),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
