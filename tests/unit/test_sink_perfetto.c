// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "fixture.h"
#include "timeline_array.h"

static const struct sink_options plain;

/* Fields that are messages, by their path from the packet; others with bytes are text. */
static bool is_message(const char *path)
{
	static const char *const messages[] = {"/1",	  "/1/6",    "/1/6/1",	"/1/11",
					       "/1/11/4", "/1/12",   "/1/12/2", "/1/12/3",
					       "/1/60",	  "/1/60/3", "/1/60/4"};
	size_t i;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if (!strcmp(messages[i], path))
			return true;
	return false;
}

static uint64_t number(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (; *at < end && **at & 0x80; (*at)++, shift += 7)
		value |= (uint64_t)(**at & 0x7f) << shift;
	assert_true(*at < end);
	return value | (uint64_t) * (*at)++ << shift;
}

/* Prints a message as "8=1001 11{9=1 10=2}"; each packet is a line. */
static void print(FILE *out, const char *path, const uint8_t *at, const uint8_t *end)
{
	bool first = true;

	while (at < end) {
		uint64_t tag = number(&at, end), value;
		char field[64];

		snprintf(field, sizeof(field), "%s/%" PRIu64, path, tag >> 3);
		if (*path)
			fprintf(out, "%s%" PRIu64, first ? "" : " ", tag >> 3);
		first = false;
		value = number(&at, end);
		if ((tag & 7) == 0) {
			fprintf(out, "=%" PRIu64, value);
			continue;
		}
		assert_int_equal(tag & 7, 2);
		assert_true(value <= (uint64_t)(end - at));
		if (is_message(field)) {
			fputs(*path ? "{" : "", out);
			print(out, field, at, at + value);
			fputs(*path ? "}" : "\n", out);
		} else {
			fprintf(out, "='%.*s'", (int)value, at);
		}
		at += value;
	}
}

static struct profile *make(void)
{
	struct profile *p = fixture_new();

	fixture_function(p, "main");
	fixture_function(p, "a\n\xff");
	fixture_thread(p, 100, 100, "prog");
	fixture_thread(p, 100, 100, "again"); /* the number is used once more */
	fixture_thread(p, 100, 102, "idle");
	fixture_thread(p, 200, 0, "go");
	p->threads[3].goroutine = 7;
	fixture_node(p, 0, 0, 0, 1, 10, 10);
	fixture_node(p, 0, 1, 1, 2, 10, 10);
	fixture_node(p, 1, 0, 0, 1, 10, 10);
	fixture_node(p, 3, 0, 0, 1, 10, 10);
	fixture_finish(p);
	p->accounting.open = -1;
	p->start_time = 1.5;
	return p;
}

static void test_packets(void **state)
{
	static const struct timeline_call calls[] = {
		{1, 0, 1234567, 0}, {2, 1001, 1100, 99}, {2, 1100, 1100, 0},
		{3, 5, 7000, 0},    {4, 10, 20, 0},
	};
	static const uint32_t threads[] = {0, 0, 0, 1, 3};
	struct timeline_array timeline;
	struct profile *p = make();
	char *written = NULL, *text = NULL;
	size_t written_size, size;
	FILE *out = open_memstream(&written, &written_size);

	timeline_array__init(&timeline, calls, threads, 5);
	timeline.base.lost = 3;
	p->timeline = &timeline.base;
	assert_int_equal(sink_perfetto.write(p, &plain, out), 0);
	fclose(out);
	out = open_memstream(&text, &size);
	print(out, "", (uint8_t *)written, (uint8_t *)written + written_size);
	fclose(out);
	assert_string_equal(
		text, "6{1{1=6 2=0} 1{1=1 2=1500000000} 2=6} 10=1 13=1\n"
		      "60{1=1 2='proftrace " PROFTRACE_VERSION "'} 10=1\n"
		      "12{3{1=1 2='off_ns'}} 8=0 10=1 13=2 11{9=3 11=1 "
		      "23='entered 5 = returned 5 + unwound 0 - open 1; lost 0, dropped 0' "
		      "4{10='entered' 4=5} 4{10='returned' 4=5} 4{10='unwound' 4=0} "
		      "4{10='open' 4=18446744073709551615} 4{10='lost' 4=0} 4{10='deep' 4=0} "
		      "4{10='dropped' 4=0} 4{10='probe_ns' 4=0} 4{10='cpu_ns' 4=0} "
		      "4{10='undistributed' 4=0} "
		      "4{10='calls_missing' 4=3}}\n"
		      "60{1=2 3{1=100 6='prog'}} 10=1\n"
		      "60{1=3 5=2 4{1=100 2=100 5='prog-100/100'}} 10=1\n"
		      "8=0 10=1 13=2 12{2{1=1 2='main'}} 11{9=1 11=3 10=1}\n"
		      "8=1001 10=1 13=2 12{2{1=2 2='a \uFFFD'}} 11{9=1 11=3 10=2 4{1=1 3=99}}\n"
		      "8=1100 10=1 13=2 11{9=2 11=3}\n"
		      "8=1100 10=1 13=2 11{9=1 11=3 10=2}\n"
		      "8=1100 10=1 13=2 11{9=2 11=3}\n"
		      "8=1234567 10=1 13=2 11{9=2 11=3}\n"
		      "60{1=4 5=2 2='again-100/100'} 10=1\n"
		      "8=5 10=1 13=2 11{9=1 11=4 10=1}\n"
		      "8=7000 10=1 13=2 11{9=2 11=4}\n"
		      "60{1=5 3{1=200 6='go'}} 10=1\n"
		      "60{1=6 5=5 2='go-200/goroutine_7'} 10=1\n"
		      "8=10 10=1 13=2 11{9=1 11=6 10=1}\n"
		      "8=20 10=1 13=2 11{9=2 11=6}\n");
	free(text);
	free(written);
	profile__free(p);
}

/* Recordings may be of any time. */
static void test_start_times(void **state)
{
	static const double times[] = {0, -1, 1e300, (double)INFINITY, (double)NAN};
	struct timeline_array timeline;
	struct profile *p = make();
	size_t i;

	timeline_array__init(&timeline, NULL, NULL, 0);
	p->timeline = &timeline.base;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char *text;

		p->start_time = times[i];
		text = fixture_write(&sink_perfetto, p, &plain);
		/* The packet of the start is all but empty. */
		assert_memory_equal(text, "\x0a\x04\x50\x01\x68\x01", 6);
		free(text);
	}
	profile__free(p);
}

static void test_no_calls(void **state)
{
	struct profile *p = make();
	FILE *out = tmpfile();

	assert_int_equal(sink_perfetto.write(p, &plain, out), -ENODATA);
	assert_int_equal(ftell(out), 0);
	fclose(out);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_start_times),
		cmocka_unit_test(test_no_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
