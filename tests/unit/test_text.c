// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"
#include "util/text.h"

static void expect_escape(const char *in, size_t size, const char *expected)
{
	char buf[256];

	memset(buf, '#', sizeof(buf));
	assert_ptr_equal(text_escape(in, buf, size), buf);
	assert_string_equal(buf, expected);
	assert_int_equal(buf[size], '#');
}

static void test_escape(void **state)
{
	expect_escape("std::vector<int>::at(unsigned long)", 200,
		      "std::vector<int>::at(unsigned long)");
	expect_escape("größe→🦀", 200, "größe→🦀");
	expect_escape("\033[31mred\n\t\x7f", 200, "\\x1b[31mred\\x0a\\x09\\x7f");
	expect_escape("c1 \xc2\x9b!", 200, "c1 \\xc2\\x9b!");
	expect_escape("\u202edlrow \u2066\u2028", 200,
		      "\\xe2\\x80\\xaedlrow \\xe2\\x81\\xa6\\xe2\\x80\\xa8");
	expect_escape("\xff\xc3", 200, "\\xff\\xc3");
	expect_escape("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80", 200,
		      "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
	expect_escape("", 200, "");
}

static void test_escape_truncates_between_characters(void **state)
{
	expect_escape("abcdef", 4, "abc");
	expect_escape("abc", 4, "abc");
	expect_escape("ab→", 5, "ab");
	expect_escape("ab→", 6, "ab→");
	expect_escape("a\n", 5, "a");
	expect_escape("a\n", 6, "a\\x0a");
	expect_escape("a", 1, "");
}

static void expect_duration(uint64_t ns, const char *expected)
{
	char buf[32];

	assert_string_equal(text_duration(ns, buf, sizeof(buf)), expected);
}

static void test_duration(void **state)
{
	expect_duration(0, "0 ns");
	expect_duration(812, "812 ns");
	expect_duration(999, "999 ns");
	expect_duration(1000, "1.00 us");
	expect_duration(1234, "1.23 us");
	expect_duration(1235, "1.24 us");
	expect_duration(9994, "9.99 us");
	expect_duration(9995, "10.0 us");
	expect_duration(99949, "99.9 us");
	expect_duration(99950, "100 us");
	expect_duration(999499, "999 us");
	expect_duration(999500, "1.00 ms");
	expect_duration(45600000, "45.6 ms");
	expect_duration(7890000000, "7.89 s");
	expect_duration(123000000000, "123 s");
	expect_duration(86400000000000, "86400 s");
	expect_duration(UINT64_MAX, "18446744074 s");
}

static void expect_count(uint64_t count, const char *expected)
{
	char buf[32];

	assert_string_equal(text_count(count, buf, sizeof(buf)), expected);
}

static void expect_below(uint64_t ns, const char *expected)
{
	char buf[32];

	assert_string_equal(text_below(ns, buf, sizeof(buf)), expected);
}

static void test_below(void **state)
{
	expect_below(0, "<1 ns");
	expect_below(1, "<1 ns");
	expect_below(2, "<2 ns");
	expect_below(3, "<5 ns");
	expect_below(6, "<10 ns");
	expect_below(10, "<10 ns");
	expect_below(11, "<20 ns");
	expect_below(49, "<50 ns");
	expect_below(201, "<500 ns");
	expect_below(501, "<1 us");
	expect_below(1001, "<2 us");
	expect_below(150000, "<200 us");
	expect_below(30000000, "<50 ms");
	expect_below(1999999999, "<2 s");
	expect_below(90000000000, "<100 s");
}

static void expect_percent(double percent, const char *expected)
{
	char buf[32];

	assert_string_equal(text_percent(percent, buf, sizeof(buf)), expected);
}

static void test_percent(void **state)
{
	expect_percent(0, "0.0%");
	expect_percent(-3, "0.0%");
	expect_percent(0.0 / 0.0, "0.0%");
	expect_percent(0.01, "<0.1%");
	expect_percent(0.06, "0.1%");
	expect_percent(12.34, "12.3%");
	expect_percent(99.96, "100.0%");
	expect_percent(999.94, "999.9%");
	expect_percent(1234.5, "1234%");
	expect_percent(1e300, "1000000%");
}

static void test_count(void **state)
{
	char small[4];

	expect_count(0, "0");
	expect_count(999, "999");
	expect_count(1000, "1,000");
	expect_count(1234567, "1,234,567");
	expect_count(UINT64_MAX, "18,446,744,073,709,551,615");
	assert_string_equal(text_count(1234567, small, sizeof(small)), "1,2");
}

static void expect_rough_count(uint64_t count, const char *expected)
{
	char buf[32];

	assert_string_equal(text_rough_count(count, buf, sizeof(buf)), expected);
}

static void test_rough_count(void **state)
{
	expect_rough_count(0, "0");
	expect_rough_count(9999, "9,999");
	expect_rough_count(10000, "10.0k");
	expect_rough_count(99949, "99.9k");
	expect_rough_count(99950, "100k");
	expect_rough_count(999499, "999k");
	expect_rough_count(999500, "1.00M");
	expect_rough_count(9994999, "9.99M");
	expect_rough_count(9995000, "10.0M");
	expect_rough_count(21295040, "21.3M");
	expect_rough_count(UINT64_MAX, "18.4E");
}

static void test_signed(void **state)
{
	char buf[32];

	assert_string_equal(text_signed_duration(1500000, buf, sizeof(buf)), "+1.50 ms");
	assert_string_equal(text_signed_duration(-20, buf, sizeof(buf)), "-20 ns");
	assert_string_equal(text_signed_duration(0, buf, sizeof(buf)), "0 ns");
	assert_string_equal(text_signed_duration(INT64_MIN, buf, sizeof(buf)), "-9223372037 s");
	assert_string_equal(text_signed_percent(12, buf, sizeof(buf)), "+12.0%");
	assert_string_equal(text_signed_percent(-0.06, buf, sizeof(buf)), "-0.1%");
	assert_string_equal(text_signed_percent(-0.01, buf, sizeof(buf)), "0.0%");
	assert_string_equal(text_signed_count(1234, buf, sizeof(buf)), "+1,234");
	assert_string_equal(text_signed_count(-1, buf, sizeof(buf)), "-1");
	assert_string_equal(text_signed_count(0, buf, sizeof(buf)), "0");
}

static void test_library_length(void **state)
{
	assert_int_equal(text_library_length("libapp.so:request_id"), 9);
	assert_int_equal(text_library_length("libapp.so.2:request_id:x"), 11);
	assert_int_equal(text_library_length("lib.some.so.2:id:s"), 13);
	assert_int_equal(text_library_length("libapp.so"), 0);
	assert_int_equal(text_library_length("arg1:s"), 0);
	assert_int_equal(text_library_length("req->addr.sock:x"), 0);
	assert_int_equal(text_library_length("req->head.so:x"), 0);
	assert_int_equal(text_library_length(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_length),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_escape_truncates_between_characters),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_rough_count),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
