// SPDX-License-Identifier: GPL-2.0-or-later
/* "Did you mean": which names are offered for one that matched nothing, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "select/nearest.h"

/* Offers NULL-terminated names for a pattern and compares the text. */
static void assert_nearest(const char *pattern, const char *const *names, const char *expected)
{
	char text[NEAREST_MAX * (NEAREST_NAME + 2)];
	struct nearest n;

	nearest__init(&n, pattern);
	for (; *names; names++)
		nearest__offer(&n, *names);
	assert_string_equal(nearest__text(&n, text, sizeof(text)), expected);
}

#define NEAREST(pattern, expected, ...) \
	assert_nearest(pattern, (const char *const[]){__VA_ARGS__, NULL}, expected)

static void names_that_contain_it_come_first(void **state)
{
	NEAREST("read", "xread, do_read, thread_start, raed", "thread_start", "raed", "do_read",
		"xread", "write_all");
}

static void misspellings(void **state)
{
	NEAREST("parse_lien", "parse_lie, parse_line", "parse_line", "unrelated", "parse_lie");
	NEAREST("recieve", "receive", "receive", "send");
	NEAREST("zzz", "", "parse", "print");
}

static void case_does_not_count(void **state)
{
	NEAREST("ns::CLASS::get", "ns::Class::get", "ns::Class::remove_all", "ns::Class::get");
}

static void glob_characters_are_left_out(void **state)
{
	struct nearest n;

	nearest__init(&n, "*pars[e]?_x*");
	assert_string_equal(n.wanted, "parse_x");
	NEAREST("*parse*", "parse, my_parse", "my_parse", "parse");
	/* nothing left to compare with */
	NEAREST("*", "", "main", "work");
}

static void a_name_is_offered_once(void **state)
{
	NEAREST("work", "work", "work", "work", "work");
}

static void only_the_best_are_kept(void **state)
{
	NEAREST("f", "f, f1, f22, f333, f4444", "f55555", "f4444", "f333", "f666666", "f22", "f1",
		"f", "f7777777");
	/* the first of equals stays in front */
	NEAREST("f", "fa, fb, fc, fd, fe", "fa", "fb", "fc", "fd", "fe", "ff", "fg");
}

static void names_elsewhere_say_where(void **state)
{
	char text[NEAREST_MAX * (NEAREST_NAME + 2)];
	struct nearest n;

	nearest__init(&n, "mallok");
	nearest__offer_in(&n, "libc.so.6", "malloc");
	nearest__offer(&n, "xmallok");
	nearest__offer_in(&n, "libc.so.6", "printf");
	nearest__offer(&n, "balloc");
	nearest__offer(&n, "malloq");
	assert_string_equal(nearest__text(&n, text, sizeof(text)),
			    "xmallok, malloq, libc.so.6:malloc, balloc");
}

static void long_names_are_cut(void **state)
{
	char name[5000], pattern[5000], text[NEAREST_MAX * (NEAREST_NAME + 2)];
	struct nearest n;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(pattern, name, sizeof(name));
	nearest__init(&n, pattern);
	assert_int_equal(strlen(n.wanted), sizeof(n.wanted) - 1);
	for (int i = 0; i < 20; i++) {
		name[0] = 'a' + i;
		nearest__offer(&n, name);
	}
	assert_int_equal(n.cnt, NEAREST_MAX);
	nearest__text(&n, text, sizeof(text));
	assert_int_equal(strlen(text), NEAREST_MAX * (NEAREST_NAME - 1) + (NEAREST_MAX - 1) * 2);
}

static void text_fits_its_buffer(void **state)
{
	struct nearest n;
	char text[12];

	nearest__init(&n, "name");
	nearest__offer(&n, "name_one");
	nearest__offer(&n, "name_two");
	memset(text, 'x', sizeof(text));
	nearest__text(&n, text, 10);
	assert_string_equal(text, "name_one,");
	assert_int_equal(text[10], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_contain_it_come_first),
		cmocka_unit_test(misspellings),
		cmocka_unit_test(case_does_not_count),
		cmocka_unit_test(glob_characters_are_left_out),
		cmocka_unit_test(a_name_is_offered_once),
		cmocka_unit_test(only_the_best_are_kept),
		cmocka_unit_test(names_elsewhere_say_where),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(text_fits_its_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
