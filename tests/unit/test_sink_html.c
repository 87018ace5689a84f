// SPDX-License-Identifier: GPL-2.0-or-later
/* The page's data; tests/e2e/test_page.py opens the page. */
#include "fixture.h"

#include <errno.h>

#include "calls/values.h"
#include "sink/page/page.h"
#include "timeline_array.h"
#include "util/json.h"

static const struct sink_options plain;

static void expect_copy(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s\nin %s", part, text);
}

/* The data, without the page around it. */
static char *write_data(const struct profile *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json j = {.out = out, .in_page = true};

	assert_non_null(out);
	assert_int_equal(page_data__write(&j, p, &plain, NULL), 0);
	fclose(out);
	return text;
}

static void test_columns(void **state)
{
	struct profile *p = fixture_small();
	char *text;

	p->functions[1].module = "/lib/other";
	p->functions[2].module = "/lib/other";
	p->functions[3].symbol = "_Z4leaf";
	fixture_bucket(p, 3, 40, 1000);
	fixture_bucket(p, 3, 42, 234);
	text = write_data(p);
	/* "never" was not called. */
	expect_copy(text, "\"name\":[\"main\",\"work\",\"idle\",\"leaf\"],"
			  "\"symbol\":[null,null,null,\"_Z4leaf\"],"
			  "\"module\":[\"/usr/bin/prog\",\"/lib/other\",0,\"/usr/bin/prog\"],"
			  "\"file\":[\"\",0,0,0],");
	expect_copy(text, "\"histogram\":[[],[],[],[40,1000,42,234]],\"calls\":[1,3,1,1234],");
	/* Callees stand behind their callers, the dearest first. */
	expect_copy(text, "\"threads\":[{\"pid\":100,\"tid\":101,\"comm\":\"prog\","
			  "\"goroutine\":false,\"stack\":false,\"spans\":false,\"merged\":0}],"
			  "\"paths\":{\"roots\":[1],\"depth\":[0,1,2,1],\"function\":[0,1,3,2],"
			  "\"calls\":[1,3,1234,1],\"total\":[1000000,700000,6000,200000],"
			  "\"self\":[100000,694000,6000,200000],");
	expect_copy(text, "\"timeline\":null,\"lines\":null,\"diff\":null}");
	free(text);
	profile__free(p);
}

static void test_page(void **state)
{
	struct profile *p = fixture_new();
	size_t head = page_head_end - page_head;
	char *text;

	fixture_function(p, "</script><!--\xe2\x80\xae");
	fixture_thread(p, 1, 1, "</script>");
	fixture_node(p, 0, 0, 0, 1, 1, 1);
	fixture_finish(p);
	text = fixture_write(&sink_html, p, &plain);
	assert_memory_equal(text, page_head, head);
	expect_copy(text, "\"\\u003c/script>\\u003c!--\\u202e\"");
	expect_copy(text, "\"comm\":\"\\u003c/script>\"");
	/* The first to end the data is ours. */
	assert_ptr_equal(strstr(text + head, "</script>"),
			 text + strlen(text) - (page_tail_end - page_tail));
	free(text);
	profile__free(p);
}

static void test_calls(void **state)
{
	static const struct timeline_call calls[] = {
		{1, 1000, 9000, 5},
		{2, 2000, 4000, 3000}, /* cannot wait for longer than it lasts */
		{77, 4500, 4600, 0},   /* no such path */
		{3, 5000, 9500, 0},    /* is cut to its caller */
		{1, 20000, 20007, 0},
	};
	static const uint32_t threads[5];
	struct profile *p = fixture_small();
	struct timeline_array timeline;
	char *text;

	timeline_array__init(&timeline, calls, threads, 5);
	timeline.base.lost = 6;
	p->timeline = &timeline.base;
	text = write_data(p);
	/* Paths by their place in the walk: idle, node 2, is the last. */
	expect_copy(text, "\"timeline\":{\"lost\":6,\"calls\":4,\"least\":0,\"threads\":[["
			  "1000,8000,5,0,1000,2000,2000,3,3000,4000,0,1,15000,7,0,0]]},");
	free(text);
	profile__free(p);
}

#define MANY   600000
#define LONGER 1000 /* of these */

/* "1,500,0,0,": four numbers at `at` and what is behind them. NULL: they are not there. */
static const char *take_four(const char *at, unsigned long numbers[4])
{
	for (int i = 0; i < 4; i++) {
		char *end;

		numbers[i] = strtoul(at, &end, 10);
		if (end == at)
			return NULL;
		at = end + (i < 3 && *end == ',');
	}
	return at;
}

/* Of very many calls those that last longest are all kept, and some of the others. */
static void test_many_calls(void **state)
{
	struct timeline_call *calls = calloc(MANY, sizeof(*calls));
	uint32_t *threads = calloc(MANY, sizeof(*threads));
	struct profile *p = fixture_small();
	struct timeline_array timeline;
	unsigned long kept = 0, longer = 0, numbers[4];
	const char *at;
	char *text;

	assert_non_null(calls);
	assert_non_null(threads);
	for (uint32_t i = 0; i < MANY; i++)
		calls[i] = (struct timeline_call){
			1, 1000ull * i, 1000ull * i + (i % (MANY / LONGER) ? 100 : 500), 0};
	timeline_array__init(&timeline, calls, threads, MANY);
	p->timeline = &timeline.base;
	text = write_data(p);
	expect_copy(text, "\"calls\":600000,\"least\":96,\"threads\":[[0,500,0,0,");
	at = strstr(text, "\"least\":96,\"threads\":[[") + strlen("\"least\":96,\"threads\":[[");
	/* sscanf() would look for the text's end at each of them. */
	while ((at = take_four(at, numbers))) {
		kept++;
		longer += numbers[1] == 500;
		if (*at != ',')
			break;
		at++;
	}
	assert_int_equal(longer, LONGER);
	/* One in two of the other calls. */
	assert_int_equal(kept, LONGER + (MANY - LONGER + 1) / 2);
	free(text);
	free(calls);
	free(threads);
	profile__free(p);
}

/* The arguments of "work" and, before it, of a function that was not called. */
static void add_arguments(struct profile *p)
{
	static const struct profile_argument arguments[] = {
		{1, "arg1"}, {1, "req->name:s"}, {1, "ret:x"}, {1, "real"}, {4, "arg1"},
	};

	p->arguments = calloc(1, sizeof(arguments));
	assert_non_null(p->arguments);
	memcpy(p->arguments, arguments, sizeof(arguments));
	p->arguments_cnt = 5;
}

/* Numbers are numbers where JavaScript holds them. More values than names, and none: a file's. */
static void test_values(void **state)
{
	static const struct call_value whole[] = {
		{VALUE_INT, {.i = -7}},	   {VALUE_TEXT, {.text = "</script>\"\x01\xff"}},
		{VALUE_UINT, {.u = 4096}}, {VALUE_FLOAT, {.f = -0.5}},
		{VALUE_INT, {.i = 1}},
	};
	static const struct call_value odd[] = {
		{VALUE_INT, {.i = (1ll << 53) - 1}},
		{VALUE_TEXT, {.text = ""}},
		{VALUE_NONE},
		{VALUE_FLOAT, {.f = -1.0 / 0.0}},
	};
	static const struct call_value large[] = {{VALUE_UINT, {.u = UINT64_MAX}}};
	static const struct timeline_call calls[] = {
		{1, 0, 100, 0, 1, whole}, {3, 10, 20, 0, 5, whole}, {3, 20, 30, 0, 4, odd},
		{4, 22, 25, 0},		  {3, 30, 40, 0, 1, large},
	};
	static const uint32_t threads[5];
	struct profile *p = fixture_small();
	struct timeline_array timeline;
	char *text;

	add_arguments(p);
	timeline_array__init(&timeline, calls, threads, 5);
	p->timeline = &timeline.base;
	text = write_data(p);
	expect_copy(text, "\"timeline\":{\"lost\":0,\"calls\":5,\"least\":0,\"arguments\":[["
			  "1,\"arg1\",\"req->name:s\",\"ret:x\",\"real\"]],\"threads\":[["
			  "0,100,0,0,[],"
			  "10,10,0,1,[-7,\"\\u003c/script>\\\"\\u0001\uFFFD\",[\"0x1000\"],-0.5],"
			  "10,10,0,1,[9007199254740991,\"\",null,[\"-inf\"]],"
			  "2,3,0,2,8,10,0,1,[[\"18446744073709551615\"]]]]},");
	free(text);
	profile__free(p);
}

/* However much text there is, the page stays as large as calls without any would make it. */
static void test_many_values(void **state)
{
	static const struct call_value values[] = {
		{VALUE_INT},
		{VALUE_TEXT,
		 {.text = "as much text as is ever read of memory: it has 63 letters here!"}},
	};
	struct timeline_call *calls = calloc(MANY, sizeof(*calls));
	uint32_t *threads = calloc(MANY, sizeof(*threads));
	struct profile *p = fixture_small();
	struct timeline_array timeline;
	char *text;

	assert_non_null(calls);
	assert_non_null(threads);
	add_arguments(p);
	for (uint32_t i = 0; i < MANY; i++)
		calls[i] = (struct timeline_call){
			3, 1000ull * i, 1000ull * i + (i % 50 ? 100 : 500), 0, 2, values};
	timeline_array__init(&timeline, calls, threads, MANY);
	p->timeline = &timeline.base;
	text = write_data(p);
	expect_copy(text, "\"calls\":600000,\"least\":96,");
	assert_in_range(strlen(text), 5000000, 8500000);
	free(text);
	free(calls);
	free(threads);
	profile__free(p);
}

static int fail_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	return -EBADMSG;
}

static int rewind_nothing(struct timeline *t, uint32_t thread)
{
	return 0;
}

static void test_broken_timeline(void **state)
{
	struct timeline broken = {.next = fail_next, .rewind = rewind_nothing};
	struct profile *p = fixture_small();
	FILE *out = tmpfile();

	assert_non_null(out);
	p->timeline = &broken;
	assert_int_equal(sink_html.write(p, &plain, out), -EBADMSG);
	fclose(out);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),		cmocka_unit_test(test_page),
		cmocka_unit_test(test_calls),		cmocka_unit_test(test_many_calls),
		cmocka_unit_test(test_values),		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_broken_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
