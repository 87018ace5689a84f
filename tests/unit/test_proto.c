// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <unistd.h>
#include <zlib.h>

#include "sink/gzip.h"
#include "util/proto.h"

static void expect(const struct proto *m, const char *bytes, size_t len)
{
	assert_false(m->failed);
	assert_int_equal(m->len, len);
	assert_memory_equal(m->data, bytes, len);
}

#define EXPECT(m, bytes) expect(m, bytes, sizeof(bytes) - 1)

static void test_numbers(void **state)
{
	struct proto m = {0};

	proto_u64(&m, 1, 0);
	proto_u64(&m, 1, 127);
	proto_u64(&m, 15, 128);
	proto_u64(&m, 16, 300);
	proto_u64(&m, 2, UINT64_MAX);
	EXPECT(&m, "\x08\x00\x08\x7f\x78\x80\x01\x80\x01\xac\x02"
		   "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	proto_free(&m);
	assert_null(m.data);
}

static void test_fixed(void **state)
{
	struct proto m = {0}, inner = {0};

	proto_fixed64(&m, 1, 2);
	proto_fixed32(&m, 16, 0x301);
	proto_bytes(&m, 2, "\0\1", 2);
	proto_number64(&inner, 3);
	proto_number_double(&inner, 1);
	proto_message(&m, 3, &inner);
	EXPECT(&m, "\x09\x02\0\0\0\0\0\0\0\x85\x01\x01\x03\0\0\x12\x02\0\1"
		   "\x1a\x10\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f");
	proto_free(&m);
	proto_free(&inner);
}

static void test_messages(void **state)
{
	struct proto m = {0}, inner = {0}, fields = {0};

	proto_number(&inner, 5);
	proto_number(&inner, 200);
	proto_message(&m, 1, &inner);
	assert_int_equal(inner.len, 0);
	proto_message(&m, 2, &inner); /* an empty one */
	proto_u64(&fields, 3, 1);
	proto_append(&m, &fields);
	proto_append(&m, &fields);
	EXPECT(&m, "\x0a\x03\x05\xc8\x01\x12\x00\x18\x01\x18\x01");
	proto_free(&m);
	proto_free(&inner);
	proto_free(&fields);
}

static void test_text(void **state)
{
	struct proto m = {0};

	proto_text(&m, 6, "");
	proto_text(&m, 6, "a\nb");
	proto_text(&m, 6, "\xffλ");
	EXPECT(&m, "\x32\x00\x32\x03"
		   "a b\x32\x05\xef\xbf\xbdλ");
	proto_free(&m);
}

/* No memory for a part: the whole says so. */
static void test_failure_is_passed_on(void **state)
{
	struct proto m = {0}, inner = {.failed = true};

	proto_message(&m, 1, &inner);
	assert_true(m.failed);
	m.failed = false;
	proto_append(&m, &inner);
	assert_true(m.failed);
	proto_free(&m);
}

/* More than fits a buffer, hard and easy to compress. */
static void test_gzip(void **state)
{
	static uint8_t data[3][300000], back[sizeof(data) + 1];
	FILE *file = tmpfile();
	struct gzip *gz;
	gzFile in;
	size_t i;

	for (i = 0; i < sizeof(data[0]); i++)
		data[1][i] = i * i * 2654435761u >> 13;
	assert_int_equal(gzip__open(file, &gz), 0);
	for (i = 0; i < 3; i++) {
		gzip__write(gz, data[i], sizeof(data[i]));
		gzip__write(gz, NULL, 0);
	}
	gzip__close(gz);
	gzip__close(NULL);
	fflush(file);
	rewind(file);
	in = gzdopen(dup(fileno(file)), "r");
	assert_int_equal(gzread(in, back, sizeof(back)), sizeof(data));
	assert_memory_equal(back, data, sizeof(data));
	assert_int_equal(gzclose(in), Z_OK);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_failure_is_passed_on),
		cmocka_unit_test(test_gzip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
