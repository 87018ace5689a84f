// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

/* The content of a field: a letter by its number. "-": a number. */
struct shape {
	const char *fields;
	const struct shape *inner;
};

/* s: a string, p: packed numbers, m: a message of the shape `inner`. */
static const struct shape flat = {"--------------", NULL};
static const struct shape sample = {"-ppm", &flat};
static const struct shape location = {"----m", &flat};
static const struct shape *const messages[] = {
	[1] = &flat, [2] = &sample, [3] = &flat, [4] = &location, [5] = &flat};
static const char *const names[] = {[1] = "sample_type", [2] = "sample",
				    [3] = "mapping",	 [4] = "location",
				    [5] = "function",	 [6] = "string",
				    [9] = "time_nanos",	 [10] = "duration_nanos",
				    [13] = "comment",	 [14] = "default_sample_type"};

static uint64_t number(const uint8_t **at)
{
	uint64_t value = 0;
	int shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

static void dump(const uint8_t *at, const uint8_t *end, const struct shape *shape, FILE *out)
{
	while (at < end) {
		uint64_t tag = number(&at), value = number(&at), field = tag >> 3;
		const uint8_t *content = at;

		if (!(tag & 7)) {
			fprintf(out, " %" PRIu64 ":%" PRIu64, field, value);
			continue;
		}
		at += value;
		if (shape->fields[field] == 'm') {
			fprintf(out, " %" PRIu64 "{", field);
			dump(content, at, shape->inner, out);
			fprintf(out, " }");
			continue;
		}
		assert_int_equal(shape->fields[field], 'p');
		fprintf(out, " %" PRIu64 "[", field);
		while (content < at)
			fprintf(out, " %" PRIu64, number(&content));
		fprintf(out, " ]");
	}
	assert_ptr_equal(at, end);
}

/* The fields of a profile, one a line. */
static void dump_profile(const uint8_t *at, const uint8_t *end, FILE *out)
{
	while (at < end) {
		uint64_t tag = number(&at), value = number(&at), field = tag >> 3;

		assert_non_null(names[field]);
		fprintf(out, "%s", names[field]);
		if (!(tag & 7)) {
			fprintf(out, " %" PRIu64 "\n", value);
			continue;
		}
		if (field == 6)
			fprintf(out, " %.*s", (int)value, (const char *)at);
		else
			dump(at, at + value, messages[field], out);
		fprintf(out, "\n");
		at += value;
	}
}

static void expect(const struct profile *p, const struct sink_options *opts, const char *expected)
{
	static uint8_t data[1 << 16];
	FILE *file = tmpfile(), *out;
	char *text = NULL;
	size_t size;
	gzFile in;
	int len;

	assert_int_equal(sink_pprof.write(p, opts, file), 0);
	rewind(file);
	in = gzdopen(dup(fileno(file)), "r");
	len = gzread(in, data, sizeof(data));
	assert_in_range(len, 1, sizeof(data) - 1);
	assert_int_equal(gzclose(in), Z_OK);
	fclose(file);
	out = open_memstream(&text, &size);
	dump_profile(data, data + len, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_profile(void **state)
{
	static const pid_t pids[] = {100};
	struct profile *p = fixture_small();

	p->target.pids = pids;
	p->target.pids_cnt = 1;
	p->functions[1].symbol = "_Z4work";
	p->functions[1].file = "work.c";
	p->functions[1].line = 3;
	p->functions[1].module = "/usr/lib/libw.so";
	p->functions[2].name = "";
	p->nodes[2].stats.calls = 0; /* idle waits, and was called before */
	p->nodes[2].stats.off_self_ns = 150000;
	p->nodes[3].stats.calls = p->nodes[3].stats.self_ns = 0; /* work is only on the way */
	expect(p, &(struct sink_options){.weight = WEIGHT_CPU},
	       "string \n"
	       "string calls\nstring count\nsample_type 1:1 2:2\n"
	       "string wall\nstring nanoseconds\nsample_type 1:3 2:4\n"
	       "string cpu\nstring nanoseconds\nsample_type 1:5 2:6\n"
	       "default_sample_type 5\n"
	       "string off\nstring nanoseconds\nsample_type 1:7 2:8\n"
	       "string /usr/bin/prog\nmapping 1:1 3:4097 5:9 7:1 8:1 9:1\n"
	       "string /usr/lib/libw.so\nmapping 1:2 3:4097 5:10 7:1 8:1 9:1\n"
	       "string main\nfunction 1:1 2:11 4:0 5:0\nlocation 1:1 2:1 3:4096 4{ 1:1 2:0 }\n"
	       "string work\nstring _Z4work\nstring work.c\n"
	       "function 1:2 2:12 3:13 4:14 5:3\nlocation 1:2 2:2 3:4096 4{ 1:2 2:3 }\n"
	       "string [unknown]\nstring idle\n"
	       "function 1:3 2:15 3:16 4:0 5:0\nlocation 1:3 2:1 3:4096 4{ 1:3 2:0 }\n"
	       "string leaf\nfunction 1:4 2:17 4:0 5:0\nlocation 1:4 2:1 3:4096 4{ 1:4 2:0 }\n"
	       "string thread\nstring comm\nstring pid\nstring tid\nstring goroutine\n"
	       "string prog-100/101\nstring prog\n"
#define LABELS " 3{ 1:18 2:23 } 3{ 1:19 2:24 } 3{ 1:20 3:100 } 3{ 1:21 3:101 }\n"
	       "sample 1[ 1 ] 2[ 1 100000 100000 0 ]" LABELS
	       "sample 1[ 4 2 1 ] 2[ 1234 6000 6000 0 ]" LABELS
	       "sample 1[ 3 1 ] 2[ 0 200000 50000 150000 ]" LABELS
	       "time_nanos 1700000000250000000\nduration_nanos 10000000000\n"
	       "string PID 100\ncomment 25\n"
	       "string entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
	       "comment 26\n");
	profile__free(p);
}

static void test_nothing(void **state)
{
	struct profile *p = fixture_new();

	fixture_finish(p);
	expect(p, &(struct sink_options){.weight = WEIGHT_CALLS},
	       "string \n"
	       "string calls\nstring count\nsample_type 1:1 2:2\n"
	       "default_sample_type 1\n"
	       "string wall\nstring nanoseconds\nsample_type 1:3 2:4\n"
	       "string cpu\nstring nanoseconds\nsample_type 1:5 2:6\n"
	       "string off\nstring nanoseconds\nsample_type 1:7 2:8\n"
	       "duration_nanos 0\n"
	       "string entered 0 = returned 0 + unwound 0 + open 0; lost 0, dropped 0\n"
	       "comment 9\n");
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
