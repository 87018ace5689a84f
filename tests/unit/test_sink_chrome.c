// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "fixture.h"
#include "timeline_array.h"

static const struct sink_options plain;

#define HEAD                                                                                      \
	"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"proftrace\":\"" PROFTRACE_VERSION "\","     \
	"\"start_time\":0,\"accounting\":{\"entered\":5,\"returned\":5,\"unwound\":0,\"open\":0," \
	"\"lost\":0,\"deep\":0,\"dropped\":0,\"probe_ns\":0,\"cpu_ns\":0,"                        \
	"\"undistributed\":0,\"overhead_percent\":0},"                                            \
	"\"budget\":{\"max_percent\":null,\"used_percent\":null,\"surveyed_ns\":0},\"calls_"      \
	"missing\":3},"                                                                           \
	"\"traceEvents\":["

static struct profile *make(void)
{
	struct profile *p = fixture_new();

	fixture_function(p, "main");
	fixture_function(p, "a \"b\"\n\xff");
	fixture_thread(p, 100, 100, "p\"g");
	fixture_thread(p, 100, 100, "again"); /* the number is used once more */
	fixture_thread(p, 100, 102, "idle");
	fixture_thread(p, 100, 0, "go");
	p->threads[3].goroutine = 7;
	fixture_node(p, 0, 0, 0, 1, 10, 10);
	fixture_node(p, 0, 1, 1, 2, 10, 10);
	fixture_node(p, 1, 0, 0, 1, 10, 10);
	fixture_node(p, 3, 0, 0, 1, 10, 10);
	fixture_finish(p);
	return p;
}

static void test_events(void **state)
{
	static const struct timeline_call calls[] = {
		{1, 0, 1234567, 0}, {2, 1001, 1100, 99}, {2, 1100, 1100, 0},
		{3, 5, 7000, 0},    {4, 10, 20, 0},
	};
	static const uint32_t threads[] = {0, 0, 0, 1, 3};
	struct timeline_array timeline;
	struct profile *p = make();

	timeline_array__init(&timeline, calls, threads, 5);
	timeline.base.lost = 3;
	p->timeline = &timeline.base;
#define EVENT(phase, tid, at, name)                                                   \
	"{\"ph\":\"" phase "\",\"pid\":100,\"tid\":" #tid ",\"ts\":" #at ",\"name\":" \
	"\"" name "\""
#define NAMED "a \\\"b\\\"\\n\uFFFD"
	fixture_expect(&sink_chrome, p, &plain,
		       HEAD EVENT("M",
				  7, 0, "process_name") ",\"args\":{\"name\":\"go\"}}"
							"," EVENT("M", 7,
								  0, "thread_name") ",\"args\":{"
										    "\"name\":"
										    "\"go-100/"
										    "goroutine_"
										    "7\"}}"
										    "," EVENT("B",
											      7,
											      0.01,
											      "m"
											      "a"
											      "i"
											      "n") "}," EVENT("E", 7, 0.02, "main") "}," EVENT("M", 100, 0, "thread_name") ",\"args\":{\"name\":\"p\\\"g-100/100\"}}," EVENT("B", 100, 0, "main") "}," EVENT("B", 100, 1.001, NAMED) "}," EVENT("E",
																																				100,
																																				1.1,
																																				NAMED) "}," EVENT("B", 100, 1.1, NAMED) "}," EVENT("E",
																																										   100,
																																										   1.1, NAMED) "}," EVENT("E", 100,
																																													  1234.567, "main") "}," EVENT("M",
																																																       101,
																																																       0,
																																																       "thread_name") ",\"args\":{\"name\":\"again-100/100\"}}," EVENT("B",
																																																								       101,
																																																								       0.005, "main") "}," EVENT("E",
																																																												 101,
																																																												 7,
																																																												 "main") "}]}\n");
	profile__free(p);
}

static void test_no_calls(void **state)
{
	struct profile *p = make();
	struct timeline_array timeline;
	FILE *out = tmpfile();
	char *text;

	assert_int_equal(sink_chrome.write(p, &plain, out), -ENODATA);
	fclose(out);
	timeline_array__init(&timeline, NULL, NULL, 0);
	p->timeline = &timeline.base;
	text = fixture_write(&sink_chrome, p, &plain);
	assert_non_null(strstr(text, "\"ph\":\"M\""));
	assert_null(strstr(text, "\"ph\":\"B\""));
	free(text);
	profile__free(p);
}

static int broken_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	*call = (struct timeline_call){1, 1, 2, 0};
	return ((struct timeline_array *)t)->at++ ? -EBADMSG : 1;
}

/* A recording that cannot be read to its end: an error, and a document all the same. */
static void test_error_closes_the_array(void **state)
{
	struct profile *p = make();
	struct timeline_array timeline;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	timeline_array__init(&timeline, NULL, NULL, 0);
	timeline.base.next = broken_next;
	p->timeline = &timeline.base;
	assert_int_equal(sink_chrome.write(p, &plain, out), -EBADMSG);
	fclose(out);
	assert_string_equal(text + size - 4, "}]}\n");
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_no_calls),
		cmocka_unit_test(test_error_closes_the_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
