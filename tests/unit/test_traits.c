// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf_fixture.h"

#include "symbol/traits.h"

#define LIBRARY "-shared -fPIC -O1"

static unsigned traits_of(const char *path, const char **why)
{
	struct elf_image *img;
	unsigned traits;
	int fd;

	img = open_path(path, &fd);
	traits = traits__of(img, why);
	close_image(img, fd);
	return traits;
}

static void expect(const char *text, const char *flags, unsigned want, const char *want_why)
{
	const char *why = "";

	compile("object", "object.c", text, flags);
	assert_int_equal(traits_of("object", &why), want);
	if (want_why)
		assert_string_equal(why, want_why);
	else
		assert_null(why);
	/* Names in .symtab alone are another matter; what is in .dynsym survives. */
	sh("strip object");
	assert_int_equal(traits_of("object", NULL), want);
}

static void test_plain_c(void **state)
{
	expect("#include <stdio.h>\nint main(void) { return puts(\"\"); }", "", 0, NULL);
}

static void test_references(void **state)
{
	static const struct {
		const char *name;
		unsigned want;
	} names[] = {
		{"__cxa_throw", TRAIT_UNWINDS},
		{"_Unwind_RaiseException", TRAIT_UNWINDS},
		{"__gxx_personality_v0", TRAIT_UNWINDS},
		{"swapcontext", TRAIT_SWITCHES},
		{"jump_fcontext", TRAIT_SWITCHES},
		{"backtrace", TRAIT_SHOWS},
		{"_Unwind_Backtrace", TRAIT_SHOWS},
		{"__asan_init", TRAIT_INSPECTS},
		/* Functions that only pass on exceptions of others, or only look. */
		{"_Unwind_Resume", 0},
		{"__gcc_personality_v0", TRAIT_CLEANS},
		{"pthread_cancel", TRAIT_CANCELS},
		{"pthread_exit", TRAIT_CANCELS},
		{"sigaction", TRAIT_SIGNALS},
		{"dl_iterate_phdr", TRAIT_TABLES},
		{"MapStaticCodeToLargePages", TRAIT_MOVES},
		{"sigaltstack", TRAIT_ALTSTACK},
		{"getcontext", 0},
		{"__morestack", 0},
		{"__cxa_thrown", 0},
	};
	/* No reason by themselves, so never named as one. */
	const unsigned minor = TRAIT_SIGNALS | TRAIT_CANCELS | TRAIT_CLEANS | TRAIT_ALTSTACK |
			       TRAIT_TABLES | TRAIT_MOVES;
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "void %s(void); void f(void) { %s(); %s(); }",
			 names[i].name, names[i].name, names[i].name);
		expect(text, LIBRARY " -fno-builtin -nostdlib", names[i].want,
		       names[i].want & ~minor ? names[i].name : NULL);
	}
	expect("void __sanitizer_start(void); void f(void) { __sanitizer_start(); }", LIBRARY,
	       TRAIT_INSPECTS, "__sanitizer_");
	expect("void __morestack(void) {}", LIBRARY, TRAIT_SWITCHES, "__morestack");
}

static void test_forks(void **state)
{
	static const struct {
		const char *call;
		unsigned want;
	} rows[] = {
		{"fork()", TRAIT_FORKS},
		{"vfork()", TRAIT_FORKS},
		{"syscall(56, 17, 0, 0, 0, 0)", TRAIT_FORKS},
		{"syscall(57)", TRAIT_FORKS},
		{"syscall(435, 0, 0)", TRAIT_FORKS},
		{"syscall(186)", 0},
		{"other(57)", 0},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text),
			 "int fork(), vfork(); long syscall(), other(long); long f(void) { "
			 "return 1 + %s; }",
			 rows[i].call);
		expect(text, LIBRARY " -w", rows[i].want, NULL);
	}
}

/* Looked up by name, which no import tells. */
static void test_names_in_strings(void **state)
{
	static const char text[] =
		"void *dlsym(void *, const char *), *look_up(void *, const char *);"
		"int puts(const char *);"
		"void *f(void *h) { %s; return %s(h, \"%s\"); }";
	static const struct {
		const char *more, *look_up, *name;
		unsigned want;
	} rows[] = {
		{"", "dlsym", "backtrace", TRAIT_SHOWS},
		{"", "dlsym", "_Unwind_Backtrace", TRAIT_SHOWS},
		{"", "dlsym", "unw_step", TRAIT_INSPECTS},
		{"puts(\"backtrace\")", "dlsym", "malloc", TRAIT_SHOWS},
		{"puts(\"a backtrace\")", "dlsym", "backtraces", 0},
		{"", "look_up", "backtrace", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char code[512];

		snprintf(code, sizeof(code), text, rows[i].more, rows[i].look_up, rows[i].name);
		expect(code, LIBRARY " -fno-builtin", rows[i].want,
		       rows[i].want ? rows[i].want == TRAIT_INSPECTS ? "unw_step"
				      : strstr(rows[i].name, "_Un")  ? rows[i].name
								     : "backtrace"
				    : NULL);
	}
}

static unsigned traits_of_bytes(const void *bytes, size_t len)
{
	int fd = memfd_with(bytes, len);
	struct elf_image *img;
	unsigned traits;

	assert_int_equal(elf_image__open(fd, "object", &img), 0);
	traits = traits__of(img, NULL);
	close_image(img, fd);
	return traits;
}

/* Sections are read in parts of 64 KB, so a name may lie where two of them meet. */
static void test_names_between_parts(void **state)
{
	static const char name[] = "\0backtrace";
	uint8_t *bytes, *names;
	size_t len;

	compile("object", "object.c",
		"void *dlsym(void *, const char *); void *f(void *h) { return dlsym(h, \"\"); }\n"
		"__asm__(\".section .names, \\\"a\\\"; .ascii \\\"here begin names\\\";\"\n"
		"\".fill 200000, 1, 'x'; .byte 0\");",
		LIBRARY " -fno-builtin");
	bytes = read_bytes("object", &len);
	names = memmem(bytes, len, "here begin names", 16);
	assert_non_null(names);
	for (size_t at = 65000; at < 132000; at += at == 66000 ? 65000 - 500 : 1) {
		uint8_t before[sizeof(name)];

		memcpy(before, names + at, sizeof(name));
		memcpy(names + at, name, sizeof(name));
		assert_int_equal(traits_of_bytes(bytes, len), TRAIT_SHOWS);
		names[at] = 'x'; /* the end of a longer word */
		assert_int_equal(traits_of_bytes(bytes, len), 0);
		memcpy(names + at, before, sizeof(name));
	}
	free(bytes);
}

static void test_gravest_is_named(void **state)
{
	expect("void backtrace(void); void makecontext(void); void __cxa_throw(void);\n"
	       "void f(void) { backtrace(); __cxa_throw(); makecontext(); }",
	       LIBRARY " -fno-builtin", TRAIT_UNWINDS | TRAIT_SWITCHES | TRAIT_SHOWS,
	       "makecontext");
}

/* C with cleanups has tables, a personality and libgcc_s, but can start nothing. */
static void test_cleanup_in_c(void **state)
{
	static const char text[] =
		"void gone(int *p); void work(void);\n"
		"void f(void) { __attribute__((cleanup(gone))) int x = 1; work(); }";

	expect(text, LIBRARY " -fexceptions", TRAIT_CLEANS, NULL);
	sh("readelf -SW object | grep -q gcc_except_table");
}

/* A whole C++ runtime linked in and stripped shows nothing but its tables. */
static void test_hidden_unwinder(void **state)
{
	static const char tables[] =
		"__asm__(\".section .gcc_except_table,\\\"a\\\"\\n.long 0\\n.text\");\n";
	char text[512];

	snprintf(text, sizeof(text), "%svoid dl_iterate_phdr(void); void f(void) { %s }", tables,
		 "dl_iterate_phdr(); dl_iterate_phdr();");
	expect(text, LIBRARY, TRAIT_UNWINDS | TRAIT_TABLES, ".gcc_except_table");
	snprintf(text, sizeof(text), "%svoid _start(void) {}", tables);
	expect(text, "-static -nostdlib", TRAIT_UNWINDS, ".gcc_except_table");
}

static void test_go(void **state)
{
	expect("__asm__(\".section .note.go.buildid,\\\"a\\\"\\n.long 0\\n.text\");\n"
	       "void makecontext(void); void f(void) { makecontext(); }",
	       LIBRARY " -fno-builtin", TRAIT_GO | TRAIT_SWITCHES, ".note.go.buildid");
}

static void test_libraries(void **state)
{
	compile("libstdc++.so.6", "stub.c", "int stub;", LIBRARY " -Wl,-soname,libstdc++.so.6");
	expect("int f(void) { return 1; }", LIBRARY " -Wl,--no-as-needed ./libstdc++.so.6",
	       TRAIT_UNWINDS, "libstdc++.so");
	compile("libgcc_s.so.1", "stub.c", "int stub;", LIBRARY " -Wl,-soname,libgcc_s.so.1");
	expect("int f(void) { return 1; }", LIBRARY " -Wl,--no-as-needed ./libgcc_s.so.1", 0, NULL);
}

/* OpenSSL's contexts never leave their thread. */
static void test_pinned(void **state)
{
	static const char text[] = "void makecontext(void); void f(void) { makecontext(); }";

	expect(text, LIBRARY " -fno-builtin -Wl,-soname,libcrypto.so.3", TRAIT_UCONTEXT,
	       "makecontext");
	expect(text, LIBRARY " -fno-builtin -Wl,-soname,libcrypt.so.1", TRAIT_SWITCHES,
	       "makecontext");
}

static void test_libc_by_soname(void **state)
{
	static const char text[] = "void swapcontext(void) {}";

	expect(text, LIBRARY " -fno-builtin -Wl,-soname,libc.so.6", TRAIT_LIBC | TRAIT_SWITCHES,
	       "swapcontext");
	expect("int f(void) { return 1; }", LIBRARY " -Wl,-soname,libm.so.6", TRAIT_LIBC,
	       "libm.so.6");
	compile("libc.so.6", "fake.c", text, LIBRARY " -fno-builtin -Wl,-soname,libfake.so");
	assert_int_equal(traits_of("libc.so.6", NULL), TRAIT_SWITCHES);
}

static void use(struct elf_image *img)
{
	const char *why;

	traits__of(img, &why);
	if (why)
		assert_true(strlen(why) < 64);
}

static void test_damaged(void **state)
{
	compile("victim", "victim.c", "void __cxa_throw(void); void f(void) { __cxa_throw(); }",
		LIBRARY);
	for_each_mutant("victim", 2000, use);
	for_each_cut("victim", 61, use);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_c),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_gravest_is_named),
		cmocka_unit_test(test_cleanup_in_c),
		cmocka_unit_test(test_hidden_unwinder),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_libc_by_soname),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_names_in_strings),
		cmocka_unit_test(test_names_between_parts),
	};

	return cmocka_run_group_tests_name("traits", tests, fixture_make, fixture_clean);
}
