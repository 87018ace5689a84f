// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "fixture.h"
#include "calls/values.h"
#include "timeline_array.h"

static const struct sink_options plain;

static struct profile *make(void)
{
	struct profile *p = fixture_new();

	fixture_function(p, "never");
	fixture_function(p, "main");
	fixture_function(p, "a \"b\"\n\xff");
	p->functions[2].module = "/usr/lib/libb.so";
	p->functions[2].file = "b.c";
	p->functions[2].line = 12;
	fixture_thread(p, 100, 100, "p\"g");
	fixture_thread(p, 100, 102, "idle");
	fixture_thread(p, 100, 0, "go");
	p->threads[2].goroutine = 100; /* the thread's number */
	fixture_node(p, 0, 0, 1, 1, 1000700, 200);
	fixture_node(p, 0, 1, 2, 2, 1000500, 1000500);
	fixture_node(p, 0, 1, 2, 0, 0, 0);
	fixture_node(p, 2, 0, 1, 1, 10, 10);
	p->nodes[2].stats.off_ns = p->nodes[2].stats.off_self_ns = 400;
	fixture_finish(p);
	p->start_time = 1.5;
	p->accounting.cpu_ns = 7;
	p->target.exec = "/usr/bin/prog";
	return p;
}

#define NOTE(label, format, value) \
	"{\"label\":\"" label "\",\"format\":\"" format "\",\"value\":" #value "}"
#define LIB(name, path)                                                                  \
	"{\"arch\":null,\"name\":\"" name "\",\"path\":\"" path name "\",\"debugName\":" \
	"\"" name "\",\"debugPath\":\"" path name "\",\"breakpadId\":\"\",\"codeId\":null}"
#define THREAD(name, comm, tid, main, samples)                                             \
	"{\"name\":\"" name "\",\"processName\":\"" comm "\",\"processType\":\"default\"," \
	"\"pid\":\"100\",\"tid\":" #tid ",\"isMainThread\":" #main ","                     \
	"\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"        \
	"\"unregisterTime\":null,\"pausedRanges\":[],\"markers\":{\"data\":[],"            \
	"\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],"        \
	"\"length\":0},\"samples\":{" samples "}}"

/* For speedscope: the threads' frames are behind the functions', and their stacks before the paths.
 */
#define DEVTOOLS                                                                              \
	"\"systemHost\":{\"name\":\"Firefox\"},\"profile\":{\"threads\":[{\"name\":"          \
	"\"GeckoMain\",\"stringTable\":[\"main (/usr/bin/prog)\","                            \
	"\"a \\\"b\\\" \uFFFD (b.c:12)\",\"p\\\"g-100/100 (thread)\","                        \
	"\"go-100/goroutine_100 (thread)\"],\"frameTable\":{\"data\":[[0],[1],[2],[3]]},"     \
	"\"stackTable\":{\"data\":[[null,2],[null,3],[0,0],[2,1],[2,1],[1,0]]},\"samples\":{" \
	"\"data\":[[2,0],[3,0.0002],[5,1.0007],[null,1.00071]]}}]},\"duration\":1.00071"

static void test_document(void **state)
{
	struct profile *p = make();

	fixture_expect(
		&sink_firefox, p, &plain,
		"{\"meta\":{\"version\":32,\"preprocessedProfileVersion\":60,\"startTime\":1500,"
		"\"interval\":1,\"processType\":0,\"stackwalk\":1,\"product\":\"/usr/bin/prog\","
		"\"importedFrom\":\"proftrace " PROFTRACE_VERSION "\",\"symbolicated\":true,"
		"\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		"\"markerSchema\":[],\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Traced\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],"
		"\"extra\":[{\"label\":\"proftrace\",\"entries\":[" NOTE("calls entered", "integer", 4) "," NOTE(
			"returned",
			"integer", 4) "," NOTE("unwound", "integer",
					       0) "," NOTE("open", "integer",
							   0) "," NOTE("lost", "integer",
								       0) "," NOTE("nested too "
										   "deeply",
										   "integer", 0) "," NOTE("dropped",
													  "integer", 0) "," NOTE("probes' cost",
																 "nanoseconds",
																 0) "," NOTE("CPU time",
																	     "nanoseconds", 7) "," NOTE("not in the distributions", "integer", 0) "]}]},\"libs\":[" LIB("prog", "/usr/bin/") "," LIB("libb.so", "/usr/lib/") "],"
																																			     "\"shared\":{\"stringArray\":[\"main\",\"a \\\"b\\\"\\n\uFFFD\",\"prog\","
																																			     "\"libb.so\",\"b.c\"],"
																																			     "\"funcTable\":{\"name\":[0,1],\"isJS\":[false,false],"
																																			     "\"relevantForJS\":[false,false],\"resource\":[0,1],\"source\":[null,0],"
																																			     "\"lineNumber\":[null,12],\"columnNumber\":[null,null],\"length\":2},"
																																			     "\"sources\":{\"uuid\":[null],\"filename\":[4],\"length\":1},"
																																			     "\"frameTable\":{\"address\":[-1,-1],\"inlineDepth\":[0,0],\"category\":[1,1],"
																																			     "\"subcategory\":[0,0],\"func\":[0,1],\"nativeSymbol\":[null,null],"
																																			     "\"innerWindowID\":[null,null],\"line\":[null,null],\"column\":[null,null],"
																																			     "\"length\":2},\"resourceTable\":{\"lib\":[0,1],\"name\":[2,3],"
																																			     "\"host\":[null,null],\"type\":[1,1],\"length\":2},"
																																			     "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
																																			     "\"functionSize\":[],\"length\":0},"
																																			     "\"stackTable\":{\"frame\":[0,1,1,0],\"prefix\":[null,0,0,null],\"length\":4}},"
																																			     "\"threads\":[" THREAD("p\\\"g-100/100",
																																						    "p\\\"g",
																																						    100,
																																						    true,
																																						    "\"stack\":[0,1],\"time\":[0,0.0002],\"weight\":[0.0002,1.0005],"
																																						    "\"weightType\":\"tracing-ms\",\"length\":2") "," THREAD("go-100/goroutine_100", "go", 101,
																																													     false,
																																													     "\"stack\":[3],\"time\":[0],\"weight\":[0.00001],"
																																													     "\"weightType\":\"tracing-ms\",\"length\":1") "]," DEVTOOLS
																																																			   "}\n");
	profile__free(p);
}

static void expect_copy(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s\nin %s", part, text);
}

static void expect_samples(const struct profile *p, enum weight weight, const char *expected)
{
	struct sink_options opts = {.weight = weight};
	char *text = fixture_write(&sink_firefox, p, &opts);
	char *samples = strstr(text, "\"samples\":{");

	assert_non_null(samples);
	samples += strlen("\"samples\":{");
	*strchr(samples, '}') = '\0';
	assert_string_equal(samples, expected);
	free(text);
}

static void test_weights(void **state)
{
	struct profile *p = make();

	expect_samples(p, WEIGHT_CPU,
		       "\"stack\":[0,1],\"time\":[0,0.0002],\"weight\":[0.0002,1.0001],"
		       "\"weightType\":\"tracing-ms\",\"length\":2");
	expect_samples(p, WEIGHT_OFF,
		       "\"stack\":[1],\"time\":[0.0002],\"weight\":[0.0004],"
		       "\"weightType\":\"tracing-ms\",\"length\":1");
	expect_samples(p, WEIGHT_CALLS,
		       "\"stack\":[0,1],\"time\":[0,0.0002],\"weight\":[1,2],"
		       "\"weightType\":\"samples\",\"length\":2");
	profile__free(p);
}

static void test_single_calls(void **state)
{
	static const struct timeline_call calls[] = {
		{1, 5, 100, 0}, {2, 20, 30, 0}, {3, 30, 30, 0}, {3, 30, 40, 0}, {1, 200, 300, 0},
	};
	static const uint32_t threads[5];
	struct timeline_array timeline;
	struct profile *p = make();

	timeline_array__init(&timeline, calls, threads, 5);
	p->timeline = &timeline.base;
	expect_samples(p, WEIGHT_WALL,
		       "\"stack\":[null,0,1,2,0,null,0,null],"
		       "\"time\":[0,0.000005,0.00002,0.00003,0.00004,0.0001,0.0002,0.0003],"
		       "\"weight\":[0,0.000015,0.00001,0.00001,0.00006,0,0.0001,0],"
		       "\"weightType\":\"tracing-ms\",\"length\":8");
	/* When it was off the CPU is not known. */
	expect_samples(p, WEIGHT_OFF,
		       "\"stack\":[1],\"time\":[0.0002],\"weight\":[0.0004],"
		       "\"weightType\":\"tracing-ms\",\"length\":1");
	profile__free(p);
}

/* A marker a call that has values, all of them text. */
static void test_values(void **state)
{
	static const struct call_value values[] = {
		{VALUE_UINT, {.u = UINT64_MAX}},
		{VALUE_TEXT, {.text = "{marker.name} \"\xff"}},
		{VALUE_NONE},
	};
	static const struct timeline_call calls[] = {
		{1, 5, 100, 0},
		{2, 20, 30, 0, 3, values},
		{2, 40, 70, 0, 1, values},
	};
	static const uint32_t threads[3];
	struct timeline_array timeline;
	struct profile *p = make();
	char *text;

	p->arguments = calloc(4, sizeof(*p->arguments));
	assert_non_null(p->arguments);
	p->arguments[p->arguments_cnt++] = (struct profile_argument){0, "arg1"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){2, "arg1:x"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){2, "arg2:s"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){2, "ret"};
	timeline_array__init(&timeline, calls, threads, 3);
	p->timeline = &timeline.base;
	text = fixture_write(&sink_firefox, p, &plain);
	expect_copy(text, "\"markerSchema\":[{\"name\":\"call-1\",\"display\":[\"marker-chart\","
			  "\"marker-table\"],\"tooltipLabel\":\"{marker.name}\",\"chartLabel\":"
			  "\"{marker.data.v0}, {marker.data.v1}, {marker.data.v2}\",\"tableLabel\":"
			  "\"{marker.data.v0}, {marker.data.v1}, {marker.data.v2}\",\"fields\":["
			  "{\"key\":\"v0\",\"label\":\"arg1:x\",\"format\":\"string\"},"
			  "{\"key\":\"v1\",\"label\":\"arg2:s\",\"format\":\"string\"},"
			  "{\"key\":\"v2\",\"label\":\"ret\",\"format\":\"string\"}],"
			  "\"isStackBased\":true}],");
	expect_copy(text,
		    "\"markers\":{\"data\":[{\"type\":\"call-1\",\"v0\":\"0xffffffffffffffff\","
		    "\"v1\":\"{marker.name} \\\"\uFFFD\",\"v2\":\"?\"},{\"type\":\"call-1\","
		    "\"v0\":\"0xffffffffffffffff\",\"v1\":\"?\",\"v2\":\"?\"}],\"name\":[1,1],"
		    "\"startTime\":[0.00002,0.00004],\"endTime\":[0.00003,0.00007],"
		    "\"phase\":[1,1],\"category\":[1,1],\"length\":2}");
	free(text);
	profile__free(p);
}

/* The developer tools' format has milliseconds alone, and no room for single calls. */
static void test_devtools(void **state)
{
	static const struct timeline_call calls[] = {{1, 5, 100, 0}};
	static const uint32_t threads[1];
	struct sink_options opts = {.weight = WEIGHT_OFF};
	struct timeline_array timeline;
	struct profile *p = make();
	char *text = fixture_write(&sink_firefox, p, &opts);

	expect_copy(text, "\"samples\":{\"data\":[[3,0],[null,0.0004]]}}]},\"duration\":0.0004}\n");
	free(text);
	opts.weight = WEIGHT_CALLS;
	text = fixture_write(&sink_firefox, p, &opts);
	assert_null(strstr(text, "systemHost"));
	free(text);
	timeline_array__init(&timeline, calls, threads, 1);
	p->timeline = &timeline.base;
	text = fixture_write(&sink_firefox, p, &plain);
	expect_copy(text, DEVTOOLS);
	free(text);
	profile__free(p);
}

static int broken_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	*call = (struct timeline_call){1, 1, 2, 0};
	return ((struct timeline_array *)t)->at++ ? -EBADMSG : 1;
}

static void test_error(void **state)
{
	struct timeline_array timeline;
	struct profile *p = make();
	FILE *out = tmpfile();

	timeline_array__init(&timeline, NULL, NULL, 0);
	timeline.base.next = broken_next;
	p->timeline = &timeline.base;
	assert_int_equal(sink_firefox.write(p, &plain, out), -EBADMSG);
	fclose(out);
	profile__free(p);
}

static void test_empty(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "never");
	fixture_finish(p);
	text = fixture_write(&sink_firefox, p, &plain);
	expect_copy(text, "\"threads\":[],\"systemHost\":");
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),     cmocka_unit_test(test_weights),
		cmocka_unit_test(test_single_calls), cmocka_unit_test(test_values),
		cmocka_unit_test(test_devtools),     cmocka_unit_test(test_error),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
