// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include "timeline_array.h"

#define HEAD                                                                      \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","    \
	"\"exporter\":\"proftrace " PROFTRACE_VERSION "\",\"name\":\"%s\","       \
	"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"/usr/bin/prog\"}," \
	"{\"name\":\"work\",\"file\":\"work.c\",\"line\":3},"                     \
	"{\"name\":\"[unknown]\",\"file\":\"/usr/bin/prog\"},"                    \
	"{\"name\":\"leaf\",\"file\":\"/usr/bin/prog\"}]},\"profiles\":["

static void expect(const struct profile *p, enum weight weight, const char *name,
		   const char *profiles)
{
	struct sink_options opts = {.weight = weight};
	char expected[4096];

	assert_in_range(snprintf(expected, sizeof(expected), HEAD "%s}\n", name, profiles), 1,
			sizeof(expected) - 1);
	fixture_expect(&sink_speedscope, p, &opts, expected);
}

static struct profile *make(void)
{
	struct profile *p = fixture_small();

	p->functions[1].file = "work.c";
	p->functions[1].line = 3;
	p->functions[2].name = "";
	return p;
}

static void test_stacks(void **state)
{
	static const pid_t pids[] = {100, 200};
	struct profile *p = make();

	p->target.pids = pids;
	p->target.pids_cnt = 2;
	expect(p, WEIGHT_WALL, "PID 100, 200",
	       "{\"type\":\"sampled\",\"name\":\"prog-100/101\",\"unit\":\"nanoseconds\","
	       "\"startValue\":0,\"samples\":[[0],[0,1],[0,1,3],[0,2]],"
	       "\"weights\":[100000,694000,6000,200000],\"endValue\":1000000}],"
	       "\"activeProfileIndex\":0");
	p->nodes[1].stats.calls = 0;
	expect(p, WEIGHT_CALLS, "PID 100, 200",
	       "{\"type\":\"sampled\",\"name\":\"prog-100/101\",\"unit\":\"none\","
	       "\"startValue\":0,\"samples\":[[0,1],[0,1,3],[0,2]],"
	       "\"weights\":[3,1234,1],\"endValue\":1238}],\"activeProfileIndex\":0");
	/* No call has waited. */
	expect(p, WEIGHT_OFF, "PID 100, 200", "],\"activeProfileIndex\":0");
	profile__free(p);
}

#define EVENT(type, frame, at) "{\"type\":\"" type "\",\"frame\":" #frame ",\"at\":" #at "}"

/* The thread's only call of main is cut by the end of the recording, another thread has none. */
static void test_single_calls(void **state)
{
	static char *const command[] = {"prog", "-x", NULL};
	static const struct timeline_call calls[] = {
		{1, 1000, 9000, 0},
		{3, 2000, 3000, 0},
		{4, 2500, 2500, 0},
		{2, 3000, 9500, 0},
	};
	static const uint32_t threads[] = {0, 0, 0, 0};
	struct timeline_array timeline;
	struct profile *p = make();

	fixture_thread(p, 100, 102, "idle");
	timeline_array__init(&timeline, calls, threads, 4);
	p->timeline = &timeline.base;
	p->target.command = command;
	expect(p, WEIGHT_WALL, "prog -x",
	       "{\"type\":\"evented\",\"name\":\"prog-100/101\",\"unit\":\"nanoseconds\","
	       "\"startValue\":0,\"events\":[" EVENT("O", 0, 1000) "," EVENT("O", 1, 2000) "," EVENT("O", 3, 2500) "," EVENT(
		       "C", 3,
		       2500) "," EVENT("C", 1,
				       3000) "," EVENT("O", 2,
						       3000) "," EVENT("C", 2,
								       9000) "," EVENT("C", 0,
										       9000) "],"
											     "\"end"
											     "Value"
											     "\":"
											     "9000}"
											     "],"
											     "\"act"
											     "ivePr"
											     "ofile"
											     "Index"
											     "\":"
											     "0");
	profile__free(p);
}

static void test_dearest_and_goroutines(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "idle");
	fixture_thread(p, 1, 2, "c\"");
	fixture_thread(p, 1, 0, "go");
	p->threads[p->threads_cnt - 1].goroutine = 77;
	fixture_node(p, 1, 0, 0, 1, 5, 5);
	fixture_node(p, 2, 0, 0, 1, 6, 6);
	fixture_finish(p);
	fixture_expect(
		&sink_speedscope, p, &(struct sink_options){0},
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"exporter\":\"proftrace " PROFTRACE_VERSION "\",\"name\":\"\","
		"\"shared\":{\"frames\":[{\"name\":\"f\",\"file\":\"/usr/bin/prog\"}]},"
		"\"profiles\":[{\"type\":\"sampled\",\"name\":\"c\\\"-1/2\","
		"\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":[[0]],\"weights\":[5],"
		"\"endValue\":5},"
		"{\"type\":\"sampled\",\"name\":\"go-1/goroutine_77\",\"unit\":\"nanoseconds\","
		"\"startValue\":0,\"samples\":[[0]],\"weights\":[6],\"endValue\":6}],"
		"\"activeProfileIndex\":1}\n");
	profile__free(p);
}

/* Stacks would take the square of the depth: gigabytes. */
static void test_depth(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n = 0, i;
	char *text;

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 100000; i++)
		n = fixture_node(p, 0, n, 0, 1, 100000 - i, 1);
	fixture_finish(p);
	text = fixture_write(&sink_speedscope, p, &(struct sink_options){0});
	assert_non_null(strstr(text, "\"events\":[" EVENT("O", 0, 0) "," EVENT("O", 0, 1) ","));
	assert_non_null(strstr(text, EVENT("C", 0, 100000) "],\"endValue\":100000}],"));
	assert_in_range(strlen(text), 1, 100000 * 100);
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_single_calls),
		cmocka_unit_test(test_dearest_and_goroutines),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
