// SPDX-License-Identifier: GPL-2.0-or-later
/* -F and -N: how patterns are read, and which names of which objects they match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "select/filter.h"
#include "symbol/symtab.h"

static const struct filter_object program = {"/usr/bin/prog", "", true};
static const struct filter_object library = {"/usr/lib/libfoo.so.1.2.3", "libfoo.so.1", false};

static void in(struct filter *f, const char *pattern)
{
	char *text = (char *)pattern;

	assert_int_equal(filter__init(f, &text, 1, NULL, 0), 0);
}

static void assert_parts(const char *pattern, const char *object, const char *func)
{
	struct filter f;

	in(&f, pattern);
	if (object)
		assert_string_equal(f.in[0].object, object);
	else
		assert_null(f.in[0].object);
	assert_string_equal(f.in[0].func, func);
	filter__clear(&f);
}

static void one_colon_ends_the_object(void **state)
{
	assert_parts("main", NULL, "main");
	assert_parts("libc.so.6:malloc", "libc.so.6", "malloc");
	assert_parts("libc*:*alloc", "libc*", "*alloc");
	assert_parts("/usr/lib/libfoo.so.1:f", "/usr/lib/libfoo.so.1", "f");
	/* nothing behind the colon: all of it */
	assert_parts("libfoo.so.1:", "libfoo.so.1", "*");
}

static void two_colons_end_nothing(void **state)
{
	assert_parts("ns::f", NULL, "ns::f");
	assert_parts("ns::C::get", NULL, "ns::C::get");
	assert_parts("::f", NULL, "::f");
	assert_parts("libfoo.so.1:ns::C::get", "libfoo.so.1", "ns::C::get");
	assert_parts("ns::C<a::b>::operator()(int)", NULL, "ns::C<a::b>::operator()(int)");
}

static bool wants(const char *pattern, const struct filter_object *obj, const struct symbol *sym)
{
	struct filter f;
	bool wanted;

	in(&f, pattern);
	wanted = filter__wants(&f, obj, sym);
	assert_int_equal(f.in[0].matched, wanted);
	filter__clear(&f);
	return wanted;
}

/* Whether the pattern matches a function of the main program with this only name. */
static bool matches(const char *pattern, const char *name)
{
	return wants(pattern, &program, &(struct symbol){.name = name});
}

static void raw_names(void **state)
{
	assert_true(matches("work", "work"));
	assert_true(matches("*", "work"));
	assert_true(matches("w?r[jk]", "work"));
	assert_false(matches("wor", "work"));
	assert_false(matches("work", "working"));
	assert_true(matches("_ZN2ns1fEi", "_ZN2ns1fEi"));
}

static void demangled_names(void **state)
{
	assert_true(matches("ns::f", "_ZN2ns1fEi"));
	assert_true(matches("ns::f(int)", "_ZN2ns1fEi"));
	assert_true(matches("ns::*", "_ZN2ns1fEi"));
	assert_true(matches("*(int)", "_ZN2ns1fEi"));
	assert_false(matches("f", "_ZN2ns1fEi"));
	assert_false(matches("ns::f(long)", "_ZN2ns1fEi"));
	assert_true(matches("ns::C::get", "_ZNK2ns1C3getEv"));
	assert_true(matches("ns::C::get() const", "_ZNK2ns1C3getEv"));
}

static void names_with_glob_characters(void **state)
{
	assert_true(matches("ns::C::operator[]", "_ZN2ns1CixEi"));
	assert_true(matches("ns::C::operator[](int)", "_ZN2ns1CixEi"));
	assert_false(matches("ns::C::operator[]", "_ZN2ns1CmlEi"));
	assert_true(matches("ns::C::operator*", "_ZN2ns1CmlEi"));
	assert_true(matches("ns::C::operator*(int)", "_ZN2ns1CmlEi"));
}

static void clones_have_their_origin_s_name(void **state)
{
	static const char *const clones[] = {"work.part.0",	      "work.constprop.12",
					     "work.isra.0",	      "work.lto_priv.3",
					     "work.llvm.123456",      "work.constprop.0.isra.0",
					     "work.part.0.lto_priv.0"};

	for (size_t i = 0; i < sizeof(clones) / sizeof(*clones); i++) {
		assert_true(matches("work", clones[i]));
		assert_true(matches("wor?", clones[i]));
		assert_true(matches(clones[i], clones[i]));
		assert_false(matches("wor", clones[i]));
	}
	assert_false(matches("work", "work.other.0"));
	assert_false(matches("work.part.0", "work.part.1"));
	assert_true(matches(".part.0", ".part.0"));
}

static void clones_of_mangled_names(void **state)
{
	assert_true(matches("ns::f", "_ZN2ns1fEi.part.0"));
	assert_true(matches("_ZN2ns1fEi", "_ZN2ns1fEi.part.0"));
	assert_true(matches("ns::f(int)", "_ZN2ns1fEi.part.0"));
}

static void aliases_count_as_well(void **state)
{
	const char *const aliases[] = {"cfree", "__libc_free.localalias"};
	const struct symbol sym = {.name = "free", .aliases = aliases, .aliases_cnt = 2};

	assert_true(wants("free", &program, &sym));
	assert_true(wants("cfree", &program, &sym));
	assert_true(wants("__libc_free", &program, &sym));
	assert_false(wants("malloc", &program, &sym));
}

/* The compiler or the linker may have folded two functions with the same code. */
static void demangled_aliases_count_as_well(void **state)
{
	const char *const aliases[] = {"_ZN2ns1gEi"};
	const struct symbol sym = {.name = "_ZN2ns1fEi", .aliases = aliases, .aliases_cnt = 1};

	assert_true(wants("ns::f", &program, &sym));
	assert_true(wants("_ZN2ns1gEi", &program, &sym));
	assert_true(wants("ns::g", &program, &sym));
	assert_true(wants("ns::g(int)", &program, &sym));
}

static void objects(void **state)
{
	static const char *const good[] = {"libfoo.so.1.2.3:f", "libfoo.so.1:f", "libfoo*:f",
					   "/usr/lib/libfoo.so.1.2.3:f", "*:f"};
	static const char *const bad[] = {
		"f", "foo:f", "libfoo:f", "prog:f", "libfoo.so:f", "/lib/libfoo.so.1.2.3:f", ":f"};
	const struct symbol sym = {.name = "f"};
	struct filter f;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		in(&f, good[i]);
		assert_true(filter__wants_object(&f, &library));
		filter__clear(&f);
		assert_true(wants(good[i], &library, &sym));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		in(&f, bad[i]);
		assert_false(filter__wants_object(&f, &library));
		filter__clear(&f);
		assert_false(wants(bad[i], &library, &sym));
	}
	/* The program may be named, too; without a name it is meant. */
	assert_true(wants("prog:f", &program, &sym));
	assert_true(wants("f", &program, &sym));
	assert_false(wants("libfoo*:f", &program, &sym));
}

static void without_patterns_the_main_program(void **state)
{
	const struct symbol sym = {.name = "f"};
	struct filter f;

	assert_int_equal(filter__init(&f, NULL, 0, NULL, 0), 0);
	assert_true(filter__wants_object(&f, &program));
	assert_false(filter__wants_object(&f, &library));
	assert_true(filter__wants(&f, &program, &sym));
	assert_false(filter__wants(&f, &library, &sym));
	filter__clear(&f);
}

static void out_patterns(void **state)
{
	char *const take[] = {"*:*"}, *const leave[] = {"f", "prog:g", "libfoo.so.1:h*"};
	const struct symbol sym_f = {.name = "f"}, sym_g = {.name = "g"}, sym_h = {.name = "hh"};
	struct filter f;

	assert_int_equal(filter__init(&f, take, 1, leave, 3), 0);
	/* without an object it is meant everywhere */
	assert_false(filter__wants(&f, &program, &sym_f));
	assert_false(filter__wants(&f, &library, &sym_f));
	assert_true(f.out[0].matched);
	assert_true(filter__wants(&f, &library, &sym_g));
	assert_false(f.out[1].matched);
	assert_false(filter__wants(&f, &program, &sym_g));
	assert_true(f.out[1].matched);
	assert_true(filter__wants(&f, &program, &sym_h));
	assert_false(f.out[2].matched);
	assert_false(filter__wants(&f, &library, &sym_h));
	assert_true(f.out[2].matched);
	filter__clear(&f);
}

static void out_patterns_alone(void **state)
{
	char *const leave[] = {"f"};
	const struct symbol sym_f = {.name = "f"}, sym_g = {.name = "g"};
	struct filter f;

	assert_int_equal(filter__init(&f, NULL, 0, leave, 1), 0);
	assert_true(filter__wants(&f, &program, &sym_g));
	assert_false(filter__wants(&f, &program, &sym_f));
	/* what is not wanted anyway says nothing about the pattern */
	f.out[0].matched = false;
	assert_false(filter__wants(&f, &library, &sym_f));
	assert_false(f.out[0].matched);
	filter__clear(&f);
}

static void every_pattern_learns_whether_it_matches(void **state)
{
	char *const take[] = {"w*", "work", "idle", "libfoo*:work"};
	const struct symbol sym = {.name = "work"};
	struct filter f;

	assert_int_equal(filter__init(&f, take, 4, NULL, 0), 0);
	assert_true(filter__wants(&f, &program, &sym));
	assert_true(f.in[0].matched);
	assert_true(f.in[1].matched);
	assert_false(f.in[2].matched);
	assert_false(f.in[3].matched);
	filter__clear(&f);
	filter__clear(&f); /* cleared twice: no harm */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_colon_ends_the_object),
		cmocka_unit_test(two_colons_end_nothing),
		cmocka_unit_test(raw_names),
		cmocka_unit_test(demangled_names),
		cmocka_unit_test(names_with_glob_characters),
		cmocka_unit_test(clones_have_their_origin_s_name),
		cmocka_unit_test(clones_of_mangled_names),
		cmocka_unit_test(aliases_count_as_well),
		cmocka_unit_test(demangled_aliases_count_as_well),
		cmocka_unit_test(objects),
		cmocka_unit_test(without_patterns_the_main_program),
		cmocka_unit_test(out_patterns),
		cmocka_unit_test(out_patterns_alone),
		cmocka_unit_test(every_pattern_learns_whether_it_matches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
