// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics of profiles: what they add up to, and that there are no more than was asked for. */
#include "fixture.h"

#include "calls/distribution.h"
#include "sink/data/metrics.h"

static char *write_metrics(struct metrics *m)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	metrics__write(m, out);
	fclose(out);
	return text;
}

static void expect(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("'%s' is not in:\n%s", line, text);
}

#define LABELS(function) \
	"{service=\"api\",function=\"" function "\",object=\"prog\",kind=\"function\"} "

/* Profiles add up, and so do distributions, below bounds that grow. */
static void test_sums(void **state)
{
	struct profile *p = fixture_small();
	struct metrics *m;
	char *text;

	fixture_bucket(p, 1, bucket__of(900), 2);
	fixture_bucket(p, 1, bucket__of(5000), 1);
	assert_int_equal(metrics__new(&(struct metrics_choice){.max = 10}, &m), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	expect(text, "# TYPE proftrace_function_calls counter\n");
	expect(text, "proftrace_function_calls_total" LABELS("work") "6\n");
	expect(text, "proftrace_function_seconds_total" LABELS("work") "0.001400000\n");
	expect(text, "proftrace_function_self_seconds_total" LABELS("work") "0.001388000\n");
	expect(text, ",kind=\"function\",le=\"1.024e-06\"} 4\n");
	expect(text, ",kind=\"function\",le=\"4.096e-06\"} 4\n");
	expect(text, ",kind=\"function\",le=\"1.6384e-05\"} 6\n");
	expect(text, "proftrace_function_duration_seconds_count" LABELS("work") "6\n");
	expect(text, "proftrace_functions_left_out 0\n");
	assert_null(strstr(text, "never"));
	free(text);
	metrics__free(m);
	profile__free(p);
}

/* Functions that came first keep their series, whatever comes later. */
static void test_bounds(void **state)
{
	struct profile *p = fixture_small();
	struct metrics *m;
	char *text;

	assert_int_equal(metrics__new(&(struct metrics_choice){.max = 2}, &m), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	p->functions[3].stats.self_ns = 1000000000;
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	expect(text, LABELS("work"));
	expect(text, LABELS("idle"));
	assert_null(strstr(text, "leaf"));
	expect(text, "proftrace_function_calls_total{service=\"api\",function=\"[others]\","
		     "object=\"\",kind=\"others\"} 2470\n");
	expect(text, "proftrace_functions_left_out 2\n");
	free(text);
	metrics__free(m);
	profile__free(p);
}

static void test_chosen(void **state)
{
	char *globs[] = {"l*", "idle"};
	const struct metrics_choice choice = {.functions = globs, .functions_cnt = 2, .max = 10};
	struct profile *p = fixture_small();
	struct metrics *m;
	char *text;

	p->functions[0].name = "l\"\\\n\xff";
	assert_int_equal(metrics__new(&choice, &m), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	expect(text, LABELS("leaf"));
	expect(text, LABELS("idle"));
	expect(text, "function=\"l\\\"\\\\ \xef\xbf\xbd\"");
	assert_null(strstr(text, "work"));
	free(text);
	metrics__free(m);
	profile__free(p);
}

/* Names that differ behind what a label has room for. Twice the same series is no document. */
static void test_long_names(void **state)
{
	static const char *const ends[] = {"~e7b39c1d41eebc44", "~e7b39f1d41eec15d"};
	char names[2][300], label[400];
	struct profile *p = fixture_small();
	struct metrics *m;
	char *text;

	for (int i = 0; i < 2; i++) {
		memset(names[i], 'n', sizeof(names[i]) - 2);
		strcpy(&names[i][sizeof(names[i]) - 2], i ? "b" : "a");
		p->functions[i].name = names[i];
	}
	assert_int_equal(metrics__new(&(struct metrics_choice){.max = 10}, &m), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	for (int i = 0; i < 2; i++) {
		snprintf(label, sizeof(label), "calls_total{service=\"api\",function=\"%.239s%s\",",
			 names[i], ends[i]);
		expect(text, label);
	}
	free(text);
	metrics__free(m);
	profile__free(p);
}

/* Probes took 400 ns more of a call than calibrated: an average by the histogram is the other one,
 * 560 us by 1,000 calls. */
static void test_sum_of_durations(void **state)
{
	struct profile *p = fixture_new();
	struct call_stats *s;
	struct metrics *m;
	uint32_t n;
	char *text;

	fixture_thread(p, 1, 1, "x");
	fixture_function(p, "work");
	n = fixture_node(p, 0, 0, 0, 1000, 560000, 560000);
	s = &p->nodes[n].stats;
	s->raw_total_ns = 2000000;
	s->min_ns = 900;
	s->max_ns = 1020;
	fixture_bucket(p, 0, bucket__of(960), 1000); /* up to 1024 */
	fixture_finish(p);
	assert_int_equal(metrics__new(&(struct metrics_choice){.max = 10}, &m), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	expect(text, "proftrace_function_duration_seconds_sum" LABELS("work") "0.000560000\n");
	free(text);
	metrics__free(m);
	profile__free(p);
}

/* Outermost calls; of what calls itself no distribution is known. */
static void test_sessions(void **state)
{
	char *globs[] = {"work", "leaf"}, *none[] = {"nothing"};
	const struct metrics_choice choice = {none, 1, globs, 2, 10};
	struct profile *p = fixture_small();
	uint64_t calls = p->functions[1].stats.calls;
	struct metrics *m;
	char *text, line[128];

	fixture_bucket(p, 1, bucket__of(900), calls);
	assert_int_equal(metrics__new(&choice, &m), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	snprintf(line, sizeof(line),
		 "proftrace_sessions_total{service=\"api\",function=\"work\","
		 "object=\"prog\"} %lu\n",
		 calls);
	expect(text, line);
	expect(text, "# TYPE proftrace_session_duration_seconds histogram\n");
	snprintf(line, sizeof(line),
		 "proftrace_session_duration_seconds_count{service=\"api\","
		 "function=\"work\",object=\"prog\"} %lu\n",
		 calls);
	expect(text, line);
	assert_null(strstr(text, "kind="));
	free(text);
	/* From within itself. */
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		if (p->nodes[i].parent && p->nodes[p->nodes[i].parent].function == 1)
			p->nodes[i].function = 1;
	}
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(metrics__add(m, p, "api"), 0);
	text = write_metrics(m);
	snprintf(
		line, sizeof(line),
		"proftrace_sessions_total{service=\"api\",function=\"work\",object=\"prog\"} %lu\n",
		2 * calls);
	expect(text, line);
	assert_null(strstr(text, "proftrace_session_duration_seconds_count{service=\"api\","
				 "function=\"work\""));
	free(text);
	metrics__free(m);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_sum_of_durations),
		cmocka_unit_test(test_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
