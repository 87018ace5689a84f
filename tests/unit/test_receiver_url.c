// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "fleet/http.h"
#include "fleet/url.h"

static void parse(struct url *u, const char *text)
{
	const char *why;

	assert_int_equal(url__parse(u, text, &why), 0);
	assert_null(why);
}

static void test_parts(void **state)
{
	struct url u;

	parse(&u, "clickhouse://db.example:8124/fleet");
	assert_string_equal(u.scheme, "clickhouse");
	assert_string_equal(u.host, "db.example");
	assert_int_equal(u.port, 8124);
	assert_string_equal(u.path, "/fleet");
	assert_null(u.user);
	url__clear(&u);
	parse(&u, "otlp+https://[::1]:4318/");
	assert_string_equal(u.host, "[::1]");
	assert_string_equal(u.path, "/");
	url__clear(&u);
	parse(&u, "parca+http://h");
	assert_int_equal(u.port, 0);
	assert_string_equal(u.path, "/");
	url__clear(&u);
}

static void test_secrets_are_not_shown(void **state)
{
	struct url u;

	parse(&u, "clickhouse://me:p%40ss%2Fw@h/d");
	assert_string_equal(u.user, "me");
	assert_string_equal(u.password, "p@ss/w");
	assert_string_equal(u.shown, "clickhouse://h/d");
	url__clear(&u);
}

static void test_what_is_none(void **state)
{
	static const char *const bad[] = {
		"",
		"h:8123/d",
		"clickhouse://",
		"clickhouse:///d",
		"x://h:0/d",
		"x://h:65536",
		"x://h:1x/d",
		"x://h:/d",
		"x://u%4@h/d",
		"x://u%00@h/d",
		"x://@h/d",
		"x://h h/d",
		"x://h/a b",
		"x://h/?q=1",
		"x://h/d#f",
		"x://h\r\nHost: x/d",
		"x://[::1/d",
		"x://::1]/d",
		"x://[::1]x/d",
		"x://h/\x7f",
		"x://[zz]:80/d",
		"x://h/d\"",
		"x://u:%zz@h/secret",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *why = NULL;
		struct url u;

		assert_int_equal(url__parse(&u, bad[i], &why), -EINVAL);
		assert_non_null(why);
		url__clear(&u);
	}
}

static void test_encode(void **state)
{
	char *text = http__encode("a b&c=%\xc3\xa4~");

	assert_string_equal(text, "a%20b%26c%3D%25%C3%A4~");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_secrets_are_not_shown),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_encode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
