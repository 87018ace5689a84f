// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <float.h>
#include <math.h>

#include "util/json.h"

static char *text;
static size_t text_size;
static struct json j;

static int begin(void **state)
{
	j = JSON_INIT(open_memstream(&text, &text_size));
	return !j.out;
}

static int end(void **state)
{
	free(text);
	return 0;
}

static void expect(const char *expected)
{
	fclose(j.out);
	assert_string_equal(text, expected);
}

static void test_commas(void **state)
{
	json_open(&j, '{');
	json_key(&j, "a");
	json_open(&j, '[');
	json_close(&j, ']');
	json_key(&j, "b");
	json_open(&j, '[');
	json_u64(&j, 1);
	json_open(&j, '{');
	json_close(&j, '}');
	json_bool(&j, true);
	json_bool(&j, false);
	json_null(&j);
	json_close(&j, ']');
	json_key(&j, "c");
	json_string(&j, "x");
	json_close(&j, '}');
	expect("{\"a\":[],\"b\":[1,{},true,false,null],\"c\":\"x\"}");
}

static void test_numbers(void **state)
{
	json_open(&j, '[');
	json_u64(&j, 0);
	json_u64(&j, UINT64_MAX);
	json_i64(&j, INT64_MIN);
	json_double(&j, 0.1);
	json_double(&j, 1700000000.25);
	json_double(&j, 1.0 / 3);
	json_double(&j, DBL_MAX);
	json_double(&j, NAN);
	json_double(&j, -INFINITY);
	json_close(&j, ']');
	expect("[0,18446744073709551615,-9223372036854775808,0.1,1700000000.25,"
	       "0.33333333333333331,1.7976931348623157e+308,null,null]");
}

static void test_decimals(void **state)
{
	json_open(&j, '[');
	json_decimal(&j, 0, 3);
	json_decimal(&j, 1, 3);
	json_decimal(&j, 10, 3);
	json_decimal(&j, 1000, 3);
	json_decimal(&j, 1234567, 3);
	json_decimal(&j, 1200500, 6);
	json_decimal(&j, 42, 0);
	json_decimal(&j, UINT64_MAX, 3);
	json_decimal(&j, 1, 30);
	json_close(&j, ']');
	expect("[0,0.001,0.01,1,1234.567,1.2005,42,18446744073709551.615,"
	       "0.000000000000000000000000000001]");
}

static void test_strings(void **state)
{
	json_open(&j, '[');
	json_string(&j, "say \"hi\"\\\n\t\r\b\f");
	json_string(&j, "\x01\x1b\x7f\xc2\x9b");
	json_string(&j, "größe→🦀");
	json_string(&j, "a\xff\xfe"
			"b\xc3");
	json_string(&j, "\xc0\xaf\xed\xa0\x80");
	json_string(&j, "");
	json_string(&j, NULL);
	json_close(&j, ']');
	expect("[\"say \\\"hi\\\"\\\\\\n\\t\\r\\b\\f\","
	       "\"\\u0001\\u001b\\u007f\\u009b\","
	       "\"größe→🦀\","
	       "\"a\uFFFD\uFFFDb\uFFFD\","
	       "\"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\","
	       "\"\",null]");
}

/* Keys of strangers, such as names of files that a target has opened. */
static void test_keys_of_strangers(void **state)
{
	json_open(&j, '{');
	json_member_u64(&j, "/tmp/a\"b\\c\n", 1);
	json_member_u64(&j, "a\xff\x1b", 2);
	j.in_page = true;
	json_member_bool(&j, "</script>größe", true);
	json_close(&j, '}');
	expect("{\"/tmp/a\\\"b\\\\c\\n\":1,\"a\uFFFD\\u001b\":2,"
	       "\"\\u003c/script>größe\":true}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_commas, begin, end),
		cmocka_unit_test_setup_teardown(test_numbers, begin, end),
		cmocka_unit_test_setup_teardown(test_decimals, begin, end),
		cmocka_unit_test_setup_teardown(test_strings, begin, end),
		cmocka_unit_test_setup_teardown(test_keys_of_strangers, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
