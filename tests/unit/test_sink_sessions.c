// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions in the formats. */
#include "calls/tree.h"
#include "range_fixture.h"
#include "calls/values.h"
#include "sessions/session_profile.h"
#include "sessions/sessions.h"
#include "sink/text/sessions_summary.h"
#include "views/prune.h"

static const char expected_tables[] =
	" SESSIONS    OPEN      PER S      P50      P90      P99      MAX  FUNCTION\n"
	"       10       0         10  1.00 us  1.00 us  9.00 us  9.00 us  handle\n"
	"\n"
	"slow sessions take 8.00 us longer: 7.50 us waiting in work, 500 ns running handle\n"
	"\n"
	"the slowest of handle, each with the paths whose own time was most\n"
	"   TOOK   QUEUED     AFTER  THREAD\n"
	"            SELF   SHARE  WAITING  PATH\n"
	"9.00 us     0 ns   40.0 us  srv-7/8  arg2=\"GET /\\x01\"  ret=?\n"
	"         8.00 us   88.9%  7.50 us  handle > work\n"
	"         1.00 us   11.1%     0 ns  handle\n"
	"1.00 us     0 ns      0 ns  srv-7/8  arg2=\"\"  ret=?\n"
	"          500 ns   50.0%     0 ns  handle\n"
	"          500 ns   50.0%     0 ns  handle > work\n"
	"\n"
	"what makes sessions slow: own time of paths, in the mean of the slowest tenth (1) and of "
	"the faster half (9)\n"
	"   SLOW    USUAL      MORE   WAITING   SHARE  PATH\n"
	"8.00 us   500 ns  +7.50 us  +7.50 us   93.8%  handle > work\n"
	"1.00 us   500 ns   +500 ns      0 ns    6.3%  handle\n"
	"\n";

static const char expected_json[] =
	"\"sessions\":[{\"function\":0,\"count\":10,\"open\":0,\"rate_per_second\":10,\"p50_ns\":10"
	"00,\"p90_ns\":1000,\"p99_ns\":9000,\"min_ns\":1000,\"max_ns\":9000,\"over\":0,\"slow\":{"
	"\"c"
	"ount\":1,\"total_ns\":9000,\"queue_ns\":0},\"usual\":{\"count\":9,\"total_ns\":9000,\"queu"
	"e_ns\":0},\"slowest\":[{\"pid\":7,\"tid\":8,\"start_ns\":40000,\"duration_ns\":9000,\"queu"
	"e_ns\":0,\"calls_missing\":0,\"calls\":[{\"id\":1,\"function\":0,\"calls\":1,\"start_ns\":"
	"4"
	"0000,\"total_ns\":9000,\"self_ns\":1000,\"off_ns\":7500,\"off_self_ns\":0,\"tid\":8,\"arg"
	"uments\":[{\"name\":\"arg2:s\",\"value\":\"GET "
	"/\\u0001\"},{\"name\":\"ret\",\"value\":null}],"
	"\"children\":[{\"id\":2,\"function\":1,\"calls\":1,\"start_ns\":40200,\"total_ns\":8000,"
	"\"s"
	"elf_ns\":8000,\"off_ns\":7500,\"off_self_ns\":7500,\"children\":[]}]}]}],\"sample\":[{\""
	"pid\":7,\"tid\":8,\"start_ns\":30000,\"duration_ns\":1000,\"queue_ns\":0,\"calls_missing"
	"\":0,\"calls\":[{\"id\":1,\"function\":0,\"calls\":1,\"start_ns\":30000,\"total_ns\":1000,"
	"\""
	"self_ns\":500,\"off_ns\":0,\"off_self_ns\":0,\"tid\":8,\"arguments\":[{\"name\":\"arg2:"
	"s\","
	"\"value\":\"GET "
	"/\\u0001\"},{\"name\":\"ret\",\"value\":null}],\"children\":[{\"id\":2,\"funct"
	"ion\":1,\"calls\":1,\"start_ns\":30200,\"total_ns\":500,\"self_ns\":500,\"off_ns\":0,\"off"
	"_self_ns\":0,\"children\":[]}]}]}]}],\"session_paths\":[{\"id\":1,\"parent\":0,\"functio"
	"n\":0,\"slow_ns\":1000,\"slow_off_ns\":0,\"usual_ns\":4500,\"usual_off_ns\":0},{\"id\":2,"
	"\"parent\":1,\"function\":1,\"slow_ns\":8000,\"slow_off_ns\":7500,\"usual_ns\":4500,\"usu"
	"al_off_ns\":0}],\"session_links\":[]";

static const char expected_threads[] =
	"\"traceEvents\":[{\"ph\":\"M\",\"pid\":7,\"tid\":8,\"ts\":0,\"name\":\"process_name\","
	"\"args\":{"
	"\"name\":\"srv\"}},{\"ph\":\"M\",\"pid\":7,\"tid\":8,\"ts\":0,\"name\":\"thread_name\","
	"\"args\":{\""
	"name\":\"session 1: 9.00 "
	"us\"}},{\"ph\":\"B\",\"pid\":7,\"tid\":8,\"ts\":40,\"name\":\"handle\""
	",\"args\":{\"arg2:s\":\"GET "
	"/\\u0001\",\"ret\":\"?\"}},{\"ph\":\"B\",\"pid\":7,\"tid\":8,\"ts\":40."
	"2,\"name\":\"work\"},{\"ph\":\"E\",\"pid\":7,\"tid\":8,\"ts\":48.2,\"name\":\"work\"},{"
	"\"ph\":\"E\","
	"\"pid\":7,\"tid\":8,\"ts\":49,\"name\":\"handle\"},{\"ph\":\"M\",\"pid\":7,\"tid\":9,"
	"\"ts\":0,\"nam"
	"e\":\"thread_name\",\"args\":{\"name\":\"usual 1: 1.00 "
	"us\"}},{\"ph\":\"B\",\"pid\":7,\"tid\":9"
	",\"ts\":30,\"name\":\"handle\",\"args\":{\"arg2:s\":\"GET "
	"/\\u0001\",\"ret\":\"?\"}},{\"ph\":\"B\","
	"\"pid\":7,\"tid\":9,\"ts\":30.2,\"name\":\"work\"},{\"ph\":\"E\",\"pid\":7,\"tid\":9,"
	"\"ts\":30.7,\""
	"name\":\"work\"},{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":31,\"name\":\"handle\"}";

/* The page's sessions. A function that the page shows no call of has its name there ("work") in
 * place of its number (0). */
#define PAGE(threads, work)                                                                        \
	"\"sessions\":{\"groups\":[{\"function\":0,\"count\":10,\"open\":0,\"per_second\":10,"     \
	"\"p50\":"                                                                                 \
	"1000,\"p90\":1000,\"p99\":9000,\"max\":9000,\"slowest\":[{\"start\":40000,\"duration\":"  \
	"9000,"                                                                                    \
	"\"queue\":0,\"missing\":0,\"threads\":[" threads                                          \
	"],\"dearest\":[{\"path\":2,\"self\":8000,"                                                \
	"\"off\":7500},{\"path\":1,\"self\":1000,\"off\":0}]}],\"slow\":1,\"usual\":9,\"more\":"   \
	"8000,"                                                                                    \
	"\"reasons_cnt\":2,\"reasons\":[{\"path\":2,\"slow\":8000,\"usual\":500,\"more\":7500,"    \
	"\"off\":"                                                                                 \
	"7500},{\"path\":1,\"slow\":1000,\"usual\":500,\"more\":500,\"off\":0}]}],\"paths\":[1,0," \
	"0,2,1," work "]}"

#define STEPS 10

static const bool handle_only[2] = {true, false};
static const struct call_value values[2] = {{.kind = VALUE_TEXT, .text = "GET /\x01"},
					    {.kind = VALUE_NONE}};
static const struct call_value empty[2] = {{.kind = VALUE_TEXT, .text = ""}, {.kind = VALUE_NONE}};

/* Ten calls of handle of 1 us, half of it in work; the fifth takes 9 us, work's 8. */
static struct profile *make(void)
{
	struct profile *p = fixture_new();
	uint32_t handle = fixture_function(p, "handle"), work = fixture_function(p, "work");
	uint32_t t = fixture_thread(p, 7, 8, "srv");
	uint32_t outer = fixture_node(p, t, 0, handle, 10, 18000, 5500);
	uint32_t inner = fixture_node(p, t, outer, work, 10, 12500, 12500);

	p->arguments = calloc(2, sizeof(*p->arguments));
	assert_non_null(p->arguments);
	p->arguments[p->arguments_cnt++] = (struct profile_argument){handle, "arg2:s"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){handle, "ret"};
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = i * 10000, more = i == 4 ? 7500 : 0;

		add_call(t, (struct timeline_call){.node = outer,
						   .enter_ns = at,
						   .leave_ns = at + 1000 + more + (more ? 500 : 0),
						   .off_ns = more,
						   .values_cnt = 2,
						   .values = i ? values : empty});
		add_call(t, (struct timeline_call){.node = inner,
						   .enter_ns = at + 200,
						   .leave_ns = at + 700 + more,
						   .off_ns = more});
	}
	p->duration_ns = 1000000000;
	fixture_finish(p);
	set_timeline(p);
	return p;
}

static struct sessions *find(const struct profile *p, uint32_t slowest)
{
	const struct session_spec spec = {.functions = handle_only, .slowest = slowest};
	struct sessions *s;

	assert_int_equal(sessions__find(p, &spec, &s), 0);
	return s;
}

/* The part of the text that begins with `from` and ends before `to`. */
static void expect_copy(char *text, const char *from, const char *to, const char *expected)
{
	char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL;

	assert_non_null(end);
	*end = '\0';
	assert_string_equal(begin, expected);
	free(text);
}

static void test_tables(void **state)
{
	static const struct sink *const sinks[] = {&sink_tree, &sink_flat};
	const struct sink_options opts = {0};
	struct profile *p = make();

	p->sessions = find(p, 2);
	for (size_t i = 0; i < 2; i++)
		expect_copy(fixture_write(sinks[i], p, &opts), " SESSIONS", "entered",
			    expected_tables);
	profile__free(p);
}

/* handle > step_0_of_the_way > step_1_of_the_way > ..., `depth` calls below it, of which the last
 * one takes the time. */
static struct profile *make_deep(uint32_t depth)
{
	struct profile *p = fixture_new();
	struct sessions *s = calloc(1, sizeof(*s));
	static char names[STEPS][32];

	assert_non_null(s);
	fixture_function(p, "handle");
	s->groups = calloc(1, sizeof(*s->groups));
	s->paths = calloc(depth + 2, sizeof(*s->paths));
	assert_true(s->groups && s->paths && depth <= STEPS);
	s->groups_cnt = 1;
	s->groups[0] = (struct session_group){.count = 10,
					      .path = 1,
					      .slow_cnt = 1,
					      .slow_total_ns = 9000,
					      .usual_cnt = 9,
					      .usual_total_ns = 9000};
	s->paths_cnt = depth + 2;
	for (uint32_t i = 0; i < depth; i++) {
		snprintf(names[i], sizeof(names[i]), "step_%u_of_the_way", i);
		s->paths[i + 2] = (struct session_path){.parent = i + 1,
							.function = fixture_function(p, names[i])};
	}
	s->paths[depth + 1].slow_ns = 8000;
	p->sessions = s;
	fixture_finish(p);
	return p;
}

/* The middle of a path tells it from others: it is left out only if it takes more than three lines.
 */
static void test_paths_are_whole(void **state)
{
	const struct sink_options narrow = {.columns = 80}, wide = {0};
	struct profile *p = make_deep(5);

	expect_copy(fixture_write(&sink_flat, p, &narrow), "8.00 us  ", "\n\n",
		    "8.00 us  +8.00 us      0 ns  100.0%  handle > step_0_of_the_way\n"
		    "                                     > step_1_of_the_way > step_2_of_the_way\n"
		    "                                     > step_3_of_the_way > step_4_of_the_way");
	expect_copy(fixture_write(&sink_flat, p, &wide), "8.00 us  ", "\n\n",
		    "8.00 us     0 ns  +8.00 us      0 ns  100.0%  handle > step_0_of_the_way > "
		    "step_1_of_the_way > step_2_of_the_way > step_3_of_the_way > "
		    "step_4_of_the_way");
	profile__free(p);
	p = make_deep(STEPS);
	expect_copy(fixture_write(&sink_flat, p, &narrow), "8.00 us  ", "\n\n",
		    "8.00 us  +8.00 us      0 ns  100.0%  handle > ... > step_5_of_the_way\n"
		    "                                     > step_6_of_the_way > step_7_of_the_way\n"
		    "                                     > step_8_of_the_way > step_9_of_the_way");
	profile__free(p);
}

/* The sentence above the tables, without a line's end. */
static void test_summary(void **state)
{
	struct profile *p = make();
	char *text;

	p->sessions = find(p, 2);
	assert_int_equal(sessions_summary__text(p, p->sessions->groups[0].function, &text), 0);
	assert_string_equal(text,
			    "slow sessions take 8.00 us longer: 7.50 us waiting in work, 500 ns "
			    "running handle");
	free(text);
	assert_int_equal(sessions_summary__text(p, 9999, &text), 0);
	assert_string_equal(text, "");
	free(text);
	profile__free(p);
}

static void test_json(void **state)
{
	const struct sink_options opts = {0};
	struct profile *p = make();

	/* A function that is not listed by its own figures is listed if sessions are made of it. */
	p->functions[1].hidden = true;
	p->sessions = find(p, 1);
	expect_copy(fixture_write(&sink_json, p, &opts), "\"sessions\":", "}\n", expected_json);
	profile__free(p);
}

/* Sessions as threads with titles. */
static void test_threads(void **state)
{
	const struct sink_options opts = {0};
	struct profile *p = make();

	assert_int_equal(profile__of_sessions(p, find(p, 1), true), 0);
	assert_int_equal(profile__summarize(p), 0);
	expect_copy(fixture_write(&sink_chrome, p, &opts), "\"traceEvents\":", "]}\n",
		    expected_threads);
	profile__free(p);
}

/* The page has both: threads, and what makes sessions slow. */
static void test_page(void **state)
{
	static const struct sink *const others[] = {&sink_csv, &sink_speedscope, &sink_callgrind};
	const struct sink_options opts = {0};
	struct profile *p = make();

	assert_int_equal(profile__of_sessions(p, find(p, 1), true), 0);
	assert_int_equal(profile__summarize(p), 0);
	expect_copy(fixture_write(&sink_html, p, &opts), "\"sessions\":{", ",\"timeline\"",
		    PAGE("0", "1"));
	assert_int_equal(profile__prune(p, 8700), 0);
	expect_copy(fixture_write(&sink_html, p, &opts), "\"sessions\":{", ",\"timeline\"",
		    PAGE("0", "\"work\""));
	/* Formats list no function that they have no call of, either. */
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char *text = fixture_write(others[i], p, &opts);

		assert_non_null(strstr(text, "handle"));
		assert_null(strstr(text, "work"));
		free(text);
	}
	assert_int_equal(profile__prune(p, 10000), 0);
	expect_copy(fixture_write(&sink_html, p, &opts), "\"sessions\":{", ",\"timeline\"",
		    PAGE("", "\"work\""));
	profile__free(p);
}

static void test_folded(void **state)
{
	struct profile *p = make();

	assert_int_equal(profile__of_sessions(p, find(p, 2), false), 0);
	assert_int_equal(profile__summarize(p), 0);
	fixture_expect(&sink_folded, p, &(struct sink_options){.thread_frames = true},
		       "session 1: 9.00 us;handle 1000\n"
		       "session 1: 9.00 us;handle;work 8000\n"
		       "session 2: 1.00 us;handle 500\n"
		       "session 2: 1.00 us;handle;work 500\n");
	fixture_expect(&sink_folded, p, &(struct sink_options){0},
		       "srv;handle 1500\n"
		       "srv;handle;work 8500\n");
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_tables, range_teardown),
		cmocka_unit_test_teardown(test_summary, range_teardown),
		cmocka_unit_test(test_paths_are_whole),
		cmocka_unit_test_teardown(test_json, range_teardown),
		cmocka_unit_test_teardown(test_threads, range_teardown),
		cmocka_unit_test_teardown(test_page, range_teardown),
		cmocka_unit_test_teardown(test_folded, range_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
