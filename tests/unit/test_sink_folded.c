// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>

#include "fixture.h"
#include "timeline/timeline.h"

static const struct sink_options plain;

static void test_wall(void **state)
{
	struct profile *p = fixture_small();

	fixture_expect(&sink_folded, p, &plain,
		       "prog;main 100000\n"
		       "prog;main;work 694000\n"
		       "prog;main;work;leaf 6000\n"
		       "prog;main;idle 200000\n");
	profile__free(p);
}

static void test_calls_and_thread_frames(void **state)
{
	struct sink_options opts = {.weight = WEIGHT_CALLS, .thread_frames = true};
	struct profile *p = fixture_small();

	fixture_expect(&sink_folded, p, &opts,
		       "prog-100/101;main 1\n"
		       "prog-100/101;main;work 3\n"
		       "prog-100/101;main;work;leaf 1234\n"
		       "prog-100/101;main;idle 1\n");
	profile__free(p);
}

static void test_process_frames(void **state)
{
	struct sink_options opts = {.weight = WEIGHT_CALLS, .process_frames = true};
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	for (pid_t tid = 1; tid <= 3; tid++)
		fixture_node(p, fixture_thread(p, tid < 3 ? 1 : 3, tid, "x"), 0, 0, 1, 1, 1);
	fixture_finish(p);
	fixture_expect(&sink_folded, p, &opts, "x-1;f 2\nx-3;f 1\n");
	profile__free(p);
}

/* main waits itself, leaf does nothing else. */
static struct profile *make_waiting(void)
{
	struct profile *p = fixture_small();

	p->nodes[1].stats.off_self_ns = 90000;
	p->nodes[4].stats.off_self_ns = 6000;
	return p;
}

static void test_on_and_off_cpu(void **state)
{
	struct sink_options cpu = {.weight = WEIGHT_CPU}, off = {.weight = WEIGHT_OFF};
	struct profile *p = make_waiting();

	fixture_expect(&sink_folded, p, &cpu,
		       "prog;main 10000\n"
		       "prog;main;work 694000\n"
		       "prog;main;idle 200000\n");
	fixture_expect(&sink_folded, p, &off,
		       "prog;main 90000\n"
		       "prog;main;work;leaf 6000\n");
	profile__free(p);
}

static void test_reverse(void **state)
{
	struct sink_options off = {.weight = WEIGHT_OFF, .reverse = true};
	struct sink_options calls = {
		.weight = WEIGHT_CALLS, .reverse = true, .thread_frames = true};
	struct profile *p = make_waiting();

	fixture_expect(&sink_folded, p, &off,
		       "prog;main 90000\n"
		       "prog;leaf;work;main 6000\n");
	fixture_expect(&sink_folded, p, &calls,
		       "prog-100/101;main 1\n"
		       "prog-100/101;work;main 3\n"
		       "prog-100/101;leaf;work;main 1234\n"
		       "prog-100/101;idle;main 1\n");
	profile__free(p);
}

/* Equal stacks of two threads are one line. */
static void test_reverse_is_summed(void **state)
{
	struct sink_options opts = {.reverse = true};
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g"), n;

	for (uint32_t t = 0; t < 2; t++) {
		fixture_thread(p, 1, 11 + t, "x");
		n = fixture_node(p, t, 0, f, 1, 10, 4);
		n = fixture_node(p, t, n, g, 1, 6, 5);
		fixture_node(p, t, n, f, 1, 1, 1);
	}
	fixture_finish(p);
	fixture_expect(&sink_folded, p, &opts, "x;f 8\nx;g;f 10\nx;f;g;f 2\n");
	profile__free(p);
}

static void test_threads_are_summed(void **state)
{
	struct sink_options frames = {.thread_frames = true};
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g");

	fixture_thread(p, 1, 11, "b");
	fixture_thread(p, 2, 12, "b");
	fixture_thread(p, 2, 13, "a");
	fixture_thread(p, 2, 14, "idle");
	fixture_node(p, 0, fixture_node(p, 0, 0, f, 1, 10, 4), g, 1, 6, 6);
	fixture_node(p, 1, fixture_node(p, 1, 0, f, 1, 3, 0), g, 1, 3, 3);
	fixture_node(p, 2, 0, f, 1, 1, 1);
	fixture_finish(p);
	fixture_expect(&sink_folded, p, &plain, "a;f 1\nb;f 4\nb;f;g 9\n");
	fixture_expect(&sink_folded, p, &frames,
		       "b-1/11;f 4\nb-1/11;f;g 6\nb-2/12;f;g 3\na-2/13;f 1\n");
	profile__free(p);
}

static void expect_frame(const char *name, const char *frame)
{
	struct profile *p = fixture_new();
	char line[200];

	fixture_function(p, name);
	fixture_thread(p, 1, 1, "#t;1");
	fixture_node(p, 0, fixture_node(p, 0, 0, 0, 1, 0, 0), 0, 1, 5, 5);
	fixture_finish(p);
	snprintf(line, sizeof(line), "t:1;%s;%s 5\n", frame, frame);
	fixture_expect(&sink_folded, p, &plain, line);
	profile__free(p);
}

static void test_names(void **state)
{
	expect_frame("a;b;", "a:b:");
	expect_frame("a\nb\tc\x7f", "a b c");
	expect_frame("#x", "x");
	expect_frame("\n## x", "x");
	expect_frame("worker 3", "worker_3");
	expect_frame("worker 3.25", "worker_3.25");
	expect_frame("worker\n3\n", "worker_3");
	expect_frame("worker3", "worker3");
	expect_frame("f (...", "f (...");
	expect_frame("operator new(unsigned long)", "operator new(unsigned long)");
	expect_frame("größe", "größe");
	expect_frame("\xff!", "\uFFFD!");
	expect_frame("", "[unknown]");
	expect_frame("#\n", "[unknown]");
	expect_frame(NULL, "[unknown]");
	expect_frame("42", "42");
}

static void test_nothing(void **state)
{
	struct profile *p = fixture_new();

	fixture_expect(&sink_folded, p, &plain, "");
	profile__free(p);
}

static void test_depth(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n = 0, i;
	char *text;

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 200000; i++)
		n = fixture_node(p, 0, n, 0, 1, 7, i == 199999 ? 7 : 0);
	fixture_finish(p);
	text = fixture_write(&sink_folded, p, &plain);
	assert_int_equal(strlen(text), strlen("x") + 200000 * strlen(";f") + strlen(" 7\n"));
	free(text);
	profile__free(p);
}

/* The first error counts, whether it comes in the middle (small buffers) or at the end. */
static void test_write_errors(void **state)
{
	static const size_t buffers[] = {16, 1 << 16};
	struct profile *p = fixture_small();
	size_t i, size;

	for (i = 0; sink__at(i / 2); i++) {
		const struct sink *sink = sink__at(i / 2);
		FILE *full;

		if (!sink->write || sink->needs_calls)
			continue;
		full = fopen("/dev/full", "w");
		assert_non_null(full);
		size = buffers[i % 2];
		assert_int_equal(setvbuf(full, NULL, _IOFBF, size), 0);
		assert_int_equal(sink->write(p, &plain, full), -ENOSPC);
		fclose(full);
	}
	profile__free(p);
}

static int looks;

static int no_calls(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	return 0;
}

static int count_look(struct timeline *t, uint32_t thread)
{
	looks++;
	return 0;
}

/* A format looks at single calls if, and only if, it says so (shows_calls). */
static void test_who_looks_at_single_calls(void **state)
{
	static struct timeline timeline = {.next = no_calls, .rewind = count_look};
	struct profile *p = fixture_small();
	char path[] = "/tmp/proftrace-test-sinks-XXXXXX";
	const struct sink *sink;

	close(mkstemp(path));
	p->timeline = &timeline;
	for (size_t i = 0; (sink = sink__at(i)); i++) {
		looks = 0;
		if (sink->write)
			free(fixture_write(sink, p, &plain));
		else
			assert_int_equal(sink->write_file(p, &plain, path), 0);
		assert_int_equal(looks > 0, sink->shows_calls);
		assert_true(sink->shows_calls || !sink->needs_calls);
	}
	unlink(path);
	profile__free(p);
}

static void test_table(void **state)
{
	assert_ptr_equal(sink__find("tree"), &sink_tree);
	assert_ptr_equal(sink__find("json"), &sink_json);
	assert_null(sink__find("xml"));
	assert_ptr_equal(sink__at(3), &sink_folded);
	for (size_t i = 0; sink__at(i); i++)
		assert_ptr_equal(sink__find(sink__at(i)->name), sink__at(i));
	assert_null(sink__at(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_calls_and_thread_frames),
		cmocka_unit_test(test_process_frames),
		cmocka_unit_test(test_on_and_off_cpu),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_reverse_is_summed),
		cmocka_unit_test(test_threads_are_summed),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_write_errors),
		cmocka_unit_test(test_who_looks_at_single_calls),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
