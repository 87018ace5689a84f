// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

static const struct sink_options plain;

#define HEAD	      "{\"schema\":1,\"proftrace\":\"" PROFTRACE_VERSION "\",\"target\":"
#define FUNCTION_TAIL "\"module\":\"/usr/bin/prog\",\"offset\":4096,"

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
	p->probes.exits_return = 1;
	p->probes.exits_sites = 2;
	p->probes.exits_none = 3;
	p->probes.skipped = skipped;
	p->probes.skipped_cnt = 2;
	fixture_expect(&sink_json, p, &plain,
		       HEAD "{\"pids\":[100,200],\"exec\":\"/usr/bin/prog\","
			    "\"command\":[\"prog\",\"a \\\"b\\\"\"]},"
			    "\"start_time\":1700000000.25,\"duration_ns\":5,\"functions\":["
			    "{\"id\":0,\"name\":\"main\",\"symbol\":\"main\"," FUNCTION_TAIL
			    "\"file\":\"main.c\",\"line\":12,\"calls\":1,\"total_ns\":50,"
			    "\"self_ns\":45,\"min_ns\":5,\"max_ns\":5,\"aliases\":[]},"
			    "{\"id\":1,\"name\":\"leaf\\n\",\"symbol\":\"_Z4leaf\"," FUNCTION_TAIL
			    "\"file\":null,\"line\":null,\"calls\":2,\"total_ns\":10,"
			    "\"self_ns\":10,\"min_ns\":5,\"max_ns\":5,\"aliases\":[\"twin\"]}],"
			    "\"threads\":[{\"pid\":100,\"tid\":101,\"comm\":\"work;er\",\"calls\":["
			    "{\"id\":1,\"function\":0,\"calls\":0,\"total_ns\":50,\"self_ns\":40,"
			    "\"children\":["
			    "{\"id\":2,\"function\":1,\"calls\":2,\"total_ns\":10,\"self_ns\":10,"
			    "\"children\":[]},"
			    "{\"id\":3,\"function\":0,\"calls\":1,\"total_ns\":5,\"self_ns\":5,"
			    "\"children\":[]}]}]}],"
			    "\"accounting\":{\"entered\":3,\"returned\":3,\"unwound\":8,\"open\":7,"
			    "\"lost\":9,\"deep\":0},"
			    "\"probes\":{\"functions\":4,\"sites\":{\"nop5\":0,\"step\":4},"
			    "\"exits\":{\"return\":1,\"sites\":2,\"none\":3},\"skipped\":["
			    "{\"name\":\"go\",\"reason\":\"is a \\\"Go\\\" program\"},"
			    "{\"name\":\"x\uFFFD\",\"reason\":\"too small\"}]}}\n");
	profile__free(p);
}

static void test_empty(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "never");
	fixture_finish(p);
	fixture_expect(&sink_json, p, &plain,
		       HEAD "{\"pids\":[],\"exec\":null,\"command\":null},"
			    "\"start_time\":0,\"duration_ns\":0,\"functions\":[],\"threads\":[],"
			    "\"accounting\":{\"entered\":0,\"returned\":0,\"unwound\":0,\"open\":0,"
			    "\"lost\":0,\"deep\":0},"
			    "\"probes\":{\"functions\":1,\"sites\":{},"
			    "\"exits\":{\"return\":0,\"sites\":0,\"none\":0},\"skipped\":[]}}\n");
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
	assert_non_null(strstr(text, "\"min_ns\":0,\"max_ns\":0,\"aliases\":[]}"));
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
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_open_call_has_no_min),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
