// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"
#include "views/prune.h"

static const struct sink_options plain;

#define HEAD	      "{\"schema\":1,\"proftrace\":\"" PROFTRACE_VERSION "\",\"target\":"
#define FUNCTION_TAIL "\"module\":\"/usr/bin/prog\",\"offset\":4096,"

/* What is new of a function, or a path, that has waited for nothing and has no distribution. */
#define TIMES(total, self)                                                            \
	"\"off_ns\":0,\"off_self_ns\":0,\"cpu_ns\":" #total ",\"cpu_self_ns\":" #self \
	",\"raw_total_ns\":" #total ",\"raw_self_ns\":" #self                         \
	",\"error_ns\":0,\"self_error_ns\":0,"
#define UNKNOWN                                                    \
	"\"p50_ns\":0,\"p90_ns\":0,\"p99_ns\":0,\"histogram\":[]," \
	"\"sampled\":0,\"estimate\":false,\"dropped\":false,\"whole\":true}"
#define NO_COST                                                                                    \
	"\"dropped\":0,\"probe_ns\":0,\"cpu_ns\":0,\"undistributed\":0,\"overhead_percent\":0},"   \
	"\"budget\":{\"max_percent\":null,\"used_percent\":null,\"surveyed_ns\":0},\"dropped\":[]" \
	","

/* Errors of system calls are added up by call, whatever the path. */
static void test_errors(void **state)
{
	static const char *const names[] = {"main", "[openat]", "[ENOENT]", "[EACCES]", "[read]"};
	struct profile *p = fixture_new();
	const char *text, *read;
	uint32_t main, call;

	for (size_t i = 0; i < 5; i++) {
		fixture_function(p, names[i]);
		p->functions[i].module = i ? "[kernel]" : "/usr/bin/prog";
	}
	fixture_thread(p, 100, 100, "prog");
	main = fixture_node(p, 0, 0, 0, 1, 50, 10);
	call = fixture_node(p, 0, main, 1, 5, 20, 20);
	fixture_node(p, 0, call, 2, 3, 0, 0);
	fixture_node(p, 0, call, 3, 1, 0, 0);
	fixture_node(p, 0, main, 4, 2, 10, 10);
	call = fixture_node(p, 0, 0, 1, 4, 20, 20);
	fixture_node(p, 0, call, 2, 4, 0, 0);
	fixture_finish(p);
	text = fixture_write(&sink_json, p, &plain);
	assert_non_null(strstr(text, "\"errors\":{\"ENOENT\":7,\"EACCES\":1}}"));
	read = strstr(text, "\"name\":\"[read]\"");
	assert_non_null(read);
	assert_null(strstr(read, "\"errors\""));
	profile__free(p);
}

static void test_document(void **state)
{
	static const pid_t pids[] = {100, 200};
	static const char *const aliases[] = {"twin"};
	static char *const command[] = {"prog", "a \"b\"", NULL};
	static const struct profile_skip skipped[] = {{"go", "m", "is a \"Go\" program"},
						      {"x\xff", "m", "too small"}};
	struct profile *p = fixture_new();
	uint32_t n;

	/* Only the second and the fourth are called: their ids become 0 and 1. */
	fixture_function(p, "never");
	fixture_function(p, "main");
	fixture_function(p, "never either");
	fixture_function(p, "leaf\n");
	p->functions[1].file = "main.c";
	p->functions[1].line = 12;
	p->functions[3].symbol = "_Z4leaf";
	p->functions[3].aliases = aliases;
	p->functions[3].aliases_cnt = 1;
	fixture_thread(p, 100, 100, "idle");
	fixture_thread(p, 100, 101, "work;er");
	n = fixture_node(p, 1, 0, 1, 0, 50, 40);
	fixture_node(p, 1, n, 3, 2, 10, 10);
	fixture_node(p, 1, n, 1, 1, 5, 5);
	fixture_finish(p);
	p->target.pids = pids;
	p->target.pids_cnt = 2;
	p->target.exec = "/usr/bin/prog";
	p->target.command = command;
	p->start_time = 1700000000.25;
	p->duration_ns = 5;
	p->accounting.open = 7;
	p->accounting.unwound = 8;
	p->accounting.lost = 9;
	p->probes.sites[0].class_name = "nop5";
	p->probes.sites[1].class_name = "step";
	p->probes.sites[1].count = 4;
	p->probes.sites_cnt = 2;
	p->probes.instrumented = 2;
	p->probes.exits_return = 1;
	p->probes.exits_sites = 2;
	p->probes.exits_none = 3;
	p->probes.skipped = skipped;
	p->probes.skipped_cnt = 2;
	fixture_expect(
		&sink_json, p, &plain,
		HEAD
		"{\"pids\":[100,200],\"exec\":\"/usr/bin/prog\","
		"\"command\":[\"prog\",\"a \\\"b\\\"\"]},"
		"\"start_time\":1700000000.25,\"duration_ns\":5,\"paused_ns\":0,\"functions\":["
		"{\"id\":0,\"kind\":\"function\",\"name\":\"main\",\"symbol\":"
		"\"main\"," FUNCTION_TAIL
		"\"file\":\"main.c\",\"line\":12,\"calls\":1,\"total_ns\":50,"
		"\"self_ns\":45,\"min_ns\":5,\"max_ns\":5,\"aliases\":[]," TIMES(50, 45) UNKNOWN
		",{\"id\":1,\"kind\":\"function\",\"name\":\"leaf\\n\",\"symbol\":\"_"
		"Z4leaf\"," FUNCTION_TAIL "\"file\":null,\"line\":null,\"calls\":2,\"total_ns\":10,"
		"\"self_ns\":10,\"min_ns\":5,\"max_ns\":5,\"aliases\":[\"twin\"]," TIMES(10, 10)
			UNKNOWN
		"],\"threads\":[{\"pid\":100,\"tid\":101,\"comm\":\"work;er\",\"calls\":["
		"{\"id\":1,\"function\":0,\"calls\":0,\"total_ns\":50,\"self_ns\":40," TIMES(
			50,
			40) "\"children\":["
			    "{\"id\":2,\"function\":1,\"calls\":2,\"total_ns\":10,\"self_ns\":"
			    "10," TIMES(10,
					10) "\"children\":[]},"
					    "{\"id\":3,\"function\":0,\"calls\":1,\"total_ns\":5,"
					    "\"self_ns\":5," TIMES(
						    5, 5) "\"children\":[]}]}]}],"
							  "\"accounting\":{\"entered\":3,"
							  "\"returned\":3,\"unwound\":8,\"open\":7,"
							  "\"lost\":9,\"deep\":0," NO_COST
							  "\"probes\":{\"functions\":4,"
							  "\"instrumented\":2,\"sites\":{"
							  "\"nop5\":0,\"step\":4},"
							  "\"exits\":{\"return\":1,\"sites\":2,"
							  "\"none\":3},\"skipped\":["
							  "{\"name\":\"go\",\"reason\":\"is a "
							  "\\\"Go\\\" program\"},"
							  "{\"name\":\"x\uFFFD\",\"reason\":\"too "
							  "small\"}]}}\n");
	profile__free(p);
}

static void test_empty(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "never");
	fixture_finish(p);
	fixture_expect(&sink_json, p, &plain,
		       HEAD "{\"pids\":[],\"exec\":null,\"command\":null},"
			    "\"start_time\":0,\"duration_ns\":0,\"paused_ns\":0,\"functions\":[],"
			    "\"threads\":[],"
			    "\"accounting\":{\"entered\":0,\"returned\":0,\"unwound\":0,\"open\":0,"
			    "\"lost\":0,\"deep\":0," NO_COST
			    "\"probes\":{\"functions\":1,\"instrumented\":0,\"sites\":{},"
			    "\"exits\":{\"return\":0,\"sites\":0,\"none\":0},\"skipped\":[]}}\n");
	profile__free(p);
}

static void expect_copy(const struct profile *p, const char *part)
{
	char *text = fixture_write(&sink_json, p, &plain);

	if (!strstr(text, part))
		fail_msg("no %s\nin %s", part, text);
	free(text);
}

static void test_lines(void **state)
{
	struct profile *p = fixture_new();
	uint32_t outer;

	fixture_function(p, "never");
	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 1, 1, 5, 5);
	outer = fixture_inline(p, (struct profile_inline){"outer", "a.c", 7, 0});
	fixture_inline(p, (struct profile_inline){"in\"ner", NULL, 0, outer});
	fixture_line(p, (struct profile_line){"a.c", 3, 0, 0, 0, 0, 0, "no"});
	fixture_line(p, (struct profile_line){"a.c", 3, 1, 0, 2, 10, 1, NULL});
	fixture_line(p, (struct profile_line){"a.c", 3, 1, 2, 3, 20, 2, NULL});
	fixture_line(p, (struct profile_line){"a.c", 4, 0, 0, 0, 0, 0, "has no code"});
	fixture_line(p, (struct profile_line){"b.c", 4, 1, 0, 0, 0, 0, NULL});
	p->accounting.line_misses = 6;
	fixture_finish(p);
	expect_copy(
		p,
		"\"lines\":["
		"{\"file\":\"a.c\",\"line\":3,\"hits\":5,\"ns\":30,\"error_ns\":3,\"functions\":["
		"{\"function\":null,\"hits\":0,\"ns\":0,\"error_ns\":0,\"inlined\":[],"
		"\"reason\":\"no\"},"
		"{\"function\":0,\"hits\":2,\"ns\":10,\"error_ns\":1,\"inlined\":[]},"
		"{\"function\":0,\"hits\":3,\"ns\":20,\"error_ns\":2,\"inlined\":["
		"{\"name\":\"in\\\"ner\",\"file\":null,\"line\":null},"
		"{\"name\":\"outer\",\"file\":\"a.c\",\"line\":7}]}]},"
		"{\"file\":\"b.c\",\"line\":4,\"hits\":0,\"ns\":0,\"error_ns\":0,\"functions\":["
		"{\"function\":0,\"hits\":0,\"ns\":0,\"error_ns\":0,\"inlined\":[]}]}],"
		"\"lines_skipped\":["
		"{\"file\":\"a.c\",\"line\":4,\"reason\":\"has no code\"}]");
	expect_copy(p, "\"line_misses\":6");
	profile__free(p);
}

/* Calls took longer by the sum than by the distribution, so quantiles are more. */
static void test_times(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 4, 100, 90);
	p->nodes[1].stats = (struct call_stats){
		.calls = 4,
		.total_ns = 100,
		.self_ns = 90,
		.off_ns = 30,
		.off_self_ns = 25,
		.raw_total_ns = 140,
		.raw_self_ns = 120,
		.error_ns = 9,
		.self_error_ns = 8,
		.min_ns = 8,
		.max_ns = 31,
	};
	fixture_bucket(p, 0, 8, 1);
	fixture_bucket(p, 0, 16, 2);
	fixture_bucket(p, 0, 23, 1);
	fixture_finish(p);
#define THESE                                                                \
	"\"off_ns\":30,\"off_self_ns\":25,\"cpu_ns\":70,\"cpu_self_ns\":65," \
	"\"raw_total_ns\":140,\"raw_self_ns\":120,\"error_ns\":9,\"self_error_ns\":8,"
	expect_copy(p, "\"total_ns\":100,\"self_ns\":90," THESE "\"children\":[]");
	expect_copy(p, "\"aliases\":[]," THESE "\"p50_ns\":24,\"p90_ns\":38,\"p99_ns\":38,"
		       "\"histogram\":[[8,9,1],[16,18,2],[30,32,1]],\"sampled\":0,");
	profile__free(p);
}

/* A dropped function that has no calls is no function of the document, and named all the same. */
static void test_budget(void **state)
{
	struct profile *p = fixture_small();

	fixture_drop(p, (struct profile_drop){4, 500000000, 1234.5, 12.25, 0, "dear and small"});
	fixture_drop(p, (struct profile_drop){1, 700000000, 10, 1, 100, "dear", 900000000});
	p->functions[1].sampled = 100;
	p->max_overhead = 2.5;
	p->surveyed_ns = 250000000;
	p->accounting.dropped = 7;
	p->accounting.probe_ns = 100;
	p->accounting.cpu_ns = 2100;
	p->accounting.undistributed = 3;
	expect_copy(p, "\"sampled\":100,\"estimate\":true,\"dropped\":true,\"whole\":true}");
	expect_copy(p, "\"dropped\":7,\"probe_ns\":100,\"cpu_ns\":2000,\"undistributed\":3,"
		       "\"overhead_percent\":5},"
		       "\"budget\":{\"max_percent\":2.5,\"used_percent\":5,\"surveyed_ns\":"
		       "250000000},\"dropped\":["
		       "{\"function\":null,\"name\":\"never\",\"module\":\"/usr/bin/prog\","
		       "\"at_ns\":500000000,\"back_ns\":null,\"calls_per_second\":1234.5,\"cost_"
		       "percent\":12.25,"
		       "\"sampled\":0,\"reason\":\"dear and small\"},"
		       "{\"function\":1,\"name\":\"work\",\"module\":\"/usr/bin/prog\","
		       "\"at_ns\":700000000,\"back_ns\":900000000,\"calls_per_second\":10,\"cost_"
		       "percent\":1,"
		       "\"sampled\":100,\"reason\":\"dear\"}],\"probes\":");
	profile__free(p);
}

static void test_hidden_functions(void **state)
{
	struct profile *p = fixture_small();
	char *text;

	assert_int_equal(profile__prune(p, 7000), 0); /* leaf has less */
	text = fixture_write(&sink_json, p, &plain);
	assert_non_null(strstr(text, "{\"id\":2,\"kind\":\"function\",\"name\":\"idle\""));
	assert_null(strstr(text, "leaf"));
	assert_null(strstr(text, "\"function\":3"));
	assert_non_null(strstr(text, "\"entered\":1239"));
	free(text);
	profile__free(p);
}

static void test_open_call_has_no_min(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 0, 10, 10);
	fixture_finish(p);
	text = fixture_write(&sink_json, p, &plain);
	assert_non_null(strstr(text, "\"min_ns\":0,\"max_ns\":0,\"aliases\":[],"));
	free(text);
	profile__free(p);
}

static void test_depth(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n = 0, i;
	char *text, *c;
	int64_t level = 0, deepest = 0;

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 200000; i++)
		n = fixture_node(p, 0, n, 0, 1, 1, 1);
	fixture_finish(p);
	text = fixture_write(&sink_json, p, &plain);
	for (c = text; *c; c++) {
		level += (*c == '{') - (*c == '}');
		if (level > deepest)
			deepest = level;
	}
	assert_int_equal(level, 0);
	assert_int_equal(deepest, 200000 + 2);
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_hidden_functions),
		cmocka_unit_test(test_open_call_has_no_min),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
