// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"
#include "util/cxx_name.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_names(void **state)
{
	static const struct {
		const char *symbol, *want;
	} names[] = {
		{"_ZN2ns1fEi", "ns::f(int)"},
		{"_ZN2ns1fEi.cold", "ns::f(int) [clone .cold]"},
		{"_Z1fi.part.0", "f(int) [clone .part.0]"},
		{"_Z1fi.part.0.cold", "f(int) [clone .part.0] [clone .cold]"},
		{"_Z1fi.llvm.123", "f(int) [clone .llvm.123]"},
		{"_Z1fIiEvT_", "void f<int>(int)"},
		{"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
		{"_ZThn16_N1B1fEv", "non-virtual thunk to B::f()"},
		{"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
		 "core::fmt::Formatter::write_str"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
		 "17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"camlStdlib__List__map_480", "Stdlib.List.map_480"},
		{"camlStdlib__$5e_140", "Stdlib.^_140"},
		{"camlPlain__$2b$2b$2b_102", "Plain.+++_102"},
		{"camlStdlib__Printf__k$27_197", "Stdlib.Printf.k'_197"},
		{"camlStdlib.List.map_480", "Stdlib.List.map_480"},
		{"camlPlain__under_score__3", "Plain.under_score.3"},
		{"camlPlain__entry", "Plain.entry"},
		{"caml_alloc_small", NULL},
		{"camlPlain", NULL},
		{"camlPlain__", NULL},
		{"camlPlain__$", NULL},
		{"camlPlain__$2", NULL},
		{"camlPlain__$zz", NULL},
		{"camlPlain__$0a", NULL},
		{"camlPlain__$ff", NULL},
		{"main", NULL},
		{"", NULL},
		{"_", NULL},
		{"_Z", NULL},
		{"_R", NULL},
		{"_Zq", NULL},
		{"_GLOBAL__sub_I_main", NULL},
		{"_start", NULL},
	};
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		char *name = demangle(names[i].symbol);

		if (names[i].want) {
			assert_non_null(name);
			assert_string_equal(name, names[i].want);
		} else {
			assert_null(name);
		}
		free(name);
	}
}

static void test_long_input(void **state)
{
	static char symbol[8192];
	char *name;

	memset(symbol, 'x', sizeof(symbol));
	memcpy(symbol, "_Z4000", 6);
	strcpy(symbol + 4006, "v");
	name = demangle(symbol);
	assert_non_null(name);
	assert_int_equal(strlen(name), 4002);
	free(name);
	memcpy(symbol, "_Z5000", 6);
	memset(symbol + 4006, 'x', 1000);
	strcpy(symbol + 5006, "v");
	assert_null(demangle(symbol));
}

/* Each parameter is a function that takes the one before twice: 2^40 words from 500 bytes. */
static void test_bomb(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fPFviE";
	size_t len = strlen(symbol);
	unsigned i;

	for (i = 0; i < 40; i++) {
		char ref[8] = "S";
		unsigned seq = 2 * i;

		if (seq >= 36)
			sprintf(ref, "S%c%c_", digits[seq / 36], digits[seq % 36]);
		else
			sprintf(ref, "S%c_", digits[seq]);
		len += sprintf(symbol + len, "PFv%s%sE", ref, ref);
		if (i == 2) {
			char *small = demangle(symbol);

			assert_non_null(small);
			assert_non_null(strstr(small, "void (*)(void (*)(int), void (*)(int))"));
			free(small);
		}
	}
	assert_null(demangle(symbol));
}

static void test_garbage(void **state)
{
	static const char good[] = "_ZNSt6vectorIN2ns1AIiEESaIS2_EE9push_backEOS2_";
	uint32_t seed = 4711;
	int i, j;

	for (i = 0; i < 20000; i++) {
		char symbol[sizeof(good)], *name;

		memcpy(symbol, good, sizeof(good));
		for (j = 0; j < 3; j++) {
			seed = seed * 1664525 + 1013904223;
			symbol[2 + (seed >> 8) % (sizeof(good) - 3)] = 33 + (seed >> 24) % 94;
		}
		name = demangle(symbol);
		if (name)
			cxx_name__cut_parameters(name);
		free(name);
	}
}

static void test_cut_params(void **state)
{
	static const struct {
		const char *name, *want;
	} names[] = {
		{"ns::f(int)", "ns::f"},
		{"ns::f(int) const", "ns::f"},
		{"ns::f(int) const &", "ns::f"},
		{"ns::f(int) &&", "ns::f"},
		{"f()", "f"},
		{"f(void (*)(int), char)", "f"},
		{"f(int) [clone .part.0]", "f"},
		{"f(int) const [clone .part.0] [clone .cold]", "f"},
		{"f[abi:cxx11](int)", "f[abi:cxx11]"},
		{"A::A(A const&)", "A::A"},
		{"A::~A()", "A::~A"},
		{"(anonymous namespace)::f()", "(anonymous namespace)::f"},
		{"ns::(anonymous namespace)::A::f(int) const", "ns::(anonymous namespace)::A::f"},
		{"void f<int>(int)", "f<int>"},
		{"unsigned long ns::f<int, char>(int, char)", "ns::f<int, char>"},
		{"std::vector<int, std::allocator<int> > f<int>(int)", "f<int>"},
		{"char const* f<int>(int)", "f<int>"},
		{"decltype (a+b) f<int>(int)", "f<int>"},
		{"decltype(auto) ns::f<int>()", "ns::f<int>"},
		{"void (*f<int>(int))(char)", "f<int>"},
		{"void (*(*f<int>(int))(char))(long)", "f<int>"},
		{"void f<void (int)>(void (*)(int))", "f<void (int)>"},
		{"void f<(E)1>()", "f<(E)1>"},
		{"void f<(1>(0))>()", "f<(1>(0))>"},
		{"A::operator()(int)", "A::operator()"},
		{"operator()(int)", "operator()"},
		{"void A::operator()<int>(int) const", "A::operator()<int>"},
		{"A::operator[](int)", "A::operator[]"},
		{"A::operator->() const", "A::operator->"},
		{"A::operator->*(int)", "A::operator->*"},
		{"bool operator< <int>(A<int> const&)", "operator< <int>"},
		{"bool operator> <int>(A<int> const&)", "operator> <int>"},
		{"std::ostream& operator<< <int>(std::ostream&)", "operator<< <int>"},
		{"bool operator==<int>(A<int> const&)", "operator==<int>"},
		{"A& A::operator=<void (int)>(int)", "A::operator=<void (int)>"},
		{"bool operator<=>(A, A)", "operator<=>"},
		{"A::operator bool() const", "A::operator bool"},
		{"A::operator char const*() const", "A::operator char const*"},
		{"A::operator std::vector<int> () const", "A::operator std::vector<int> "},
		{"operator new(unsigned long)", "operator new"},
		{"operator delete[](void*)", "operator delete[]"},
		{"operator\"\" _km(long double)", "operator\"\" _km"},
		{"my_operator(int)", "my_operator"},
		{"operators(int)", "operators"},
		{"main::{lambda(int)#1}::operator()(int) const",
		 "main::{lambda(int)#1}::operator()"},
		{"f(int)::{lambda()#1}::operator()() const", "f(int)::{lambda()#1}::operator()"},
		{"A::f(int) const::{lambda()#1}::operator()() const",
		 "A::f(int) const::{lambda()#1}::operator()"},
		{"void f<int>(int)::local::g()", "f<int>(int)::local::g"},
		{"non-virtual thunk to B::f(int)", "non-virtual thunk to B::f"},
		{"virtual thunk to B::~B()", "virtual thunk to B::~B"},
		{"core::fmt::Formatter::write_str", "core::fmt::Formatter::write_str"},
		{"<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt"},
		{"<fn(i32) -> u8 as a::B>::call", "<fn(i32) -> u8 as a::B>::call"},
		{"core::ops::function::FnOnce::call_once{{vtable.shim}}",
		 "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
		{"a::b::{closure#0}", "a::b::{closure#0}"},
		{"main", "main"},
		{"", ""},
		/* Nonsense must not run off the end. */
		{"f(", "f"},
		{"(*", "(*"},
		{"f<", "f<"},
		{"f)>]}", "f)>]}"},
		{"operator", "operator"},
		{"operator(", "operator"},
	};
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		char *copy = strdup(names[i].name);

		assert_string_equal(cxx_name__cut_parameters(copy), names[i].want);
		free(copy);
	}
}

/* Parts of a name go in this order, where there is less and less room. */
static void test_fit(void **state)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *want;
	} names[] = {
		{"ns::parse(std::string const&, int) const", 40,
		 "ns::parse(std::string const&, int) const"},
		{"ns::parse(std::string const&, int) const", 39, "ns::parse(…) const"},
		{"void std::vector<Shape*, std::allocator<Shape*> >::grow<int>(long, int&&)", 64,
		 "void std::vector<Shape*, std::allocator<Shape*> >::grow<int>(…)"},
		{"void std::vector<Shape*, std::allocator<Shape*> >::grow<int>(long, int&&)", 35,
		 "void std::vector<…>::grow<int>(…)"},
		{"void std::vector<Shape*, std::allocator<Shape*> >::grow<int>(long, int&&)", 30,
		 "std::vector<…>::grow<int>(…)"},
		{"std::vector<long>::at(unsigned long) [clone .isra.0]", 36,
		 "std::vector<…>::at(…)"},
		{"std::vector<long>::at(unsigned long) [clone .isra.0]", 20, "…vector<…>::at(…)"},
		{"std::vector<long>::at(unsigned long) [clone .isra.0]", 8, "…at(…)"},
		{"f()::{lambda(std::map<int, long>&)#1}::operator()(std::map<int, long>&) const",
		 50, "f()::{lambda(std::map<…>&)#1}::operator()(…) const"},
		{"bool ns::operator< <char>(char const*, char const*)", 24,
		 "ns::operator< <char>(…)"},
		{"<alloc::vec::Vec<std::path::PathBuf> as core::ops::Drop>::drop", 60,
		 "<alloc::vec::Vec<…> as core::ops::Drop>::drop"},
		{"<alloc::vec::Vec<std::path::PathBuf> as core::ops::Drop>::drop", 12, "…drop"},
		{"core::ptr::drop_in_place::<std::path::PathBuf>", 30,
		 "core::ptr::drop_in_place::<…>"},
		{"parse(std::string const&, int) (inlined)", 24, "parse(…) (inlined)"},
		{"non-virtual thunk to Shape::area(long, long)", 33,
		 "non-virtual thunk to Shape::area(…)"},
		/* Languages other than C++ and Rust. */
		{"main.(*Server).handleRequest.func1", 12, "main.(*Server).handleRequest.func1"},
		{"read_the_configuration_file", 10, "read_the_configuration_file"},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", 10, "/usr/lib/x86_64-linux-gnu/libc.so.6"},
		/* Nonsense must not run off the end. */
		{"f(int", 1, "f(int"},
		{"f<", 0, "f<"},
		{"::", 0, "::"},
		{"", 0, ""},
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		char *copy = strdup(names[i].name);

		cxx_name__fit(copy, names[i].columns);
		assert_string_equal(copy, names[i].want);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	   cmocka_unit_test(test_long_input),
		cmocka_unit_test(test_bomb),	   cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_cut_params), cmocka_unit_test(test_fit),
	};

	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
