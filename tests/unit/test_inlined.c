// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that are inlined where an address is, against the compiler's own labels in the code. */
#include "elf_fixture.h"

#include <errno.h>

#include "dwarf/line_table.h"
#include "elf/lookup.h"
#include "symbol/demangle.h"

/* Marks stand amid the code, each in the innermost function that is named by it. */
static const char source[] =
	"#define MARK(NAME) __asm__ volatile(\".globl \" #NAME \"\\n\" #NAME \": nop\")\n"
	"#define ALWAYS __attribute__((always_inline))\n"
	"static inline ALWAYS int inner(int n)\n"
	"{\n"
	"	MARK(at_inner);\n"
	"	return n * 3;\n"
	"}\n"
	"namespace ns {\n"
	"struct Box {\n"
	"	int n;\n"
	"	ALWAYS void middle(int by)\n"
	"	{\n"
	"		MARK(at_middle);\n"
	"		{\n"
	"			int more = by;\n"
	"			__asm__ volatile(\"\" : \"+r\"(more));\n"
	"			n += inner(more);\n"
	"		}\n"
	"	}\n"
	"};\n"
	"}\n"
	"extern \"C\" int outer(int n)\n"
	"{\n"
	"	ns::Box box = {n};\n"
	"	MARK(at_outer);\n"
	"	box.middle(n);\n"
	"	MARK(behind);\n"
	"	return box.n;\n"
	"}\n"
	/* GCC splits this, inlines the first half into its callers, and the second into itself. */
	"extern \"C\" int other(int);\n"
	"extern \"C\" int split(int *p)\n"
	"{\n"
	"	if (__builtin_expect(!*p, 1))\n"
	"		return 0;\n"
	"	MARK(at_split);\n"
	"	for (int i = 0; i < *p; i++)\n"
	"		*p += other(i) * other(*p);\n"
	"	return other(*p) + other(3);\n"
	"}\n"
	"extern \"C\" int twice(int *p) { return split(p) + split(p + 1); }\n";

/* "ns::Box::middle(int) a.cpp:11 > inner a.cpp:3", outermost first. */
static void describe(struct line_table *t, uint64_t vaddr, char *text, size_t size)
{
	struct line_inlined found[LINE_INLINED_MAX];
	size_t cnt, len = 0;

	assert_int_equal(line_table__inlined_at(t, vaddr, found, &cnt), 0);
	*text = '\0';
	for (size_t i = 0; i < cnt; i++) {
		char *name = demangle(found[i].name);
		const char *file = found[i].file ? strrchr(found[i].file, '/') : NULL;

		len += snprintf(text + len, size - len, "%s%s %s:%u", i ? " > " : "",
				name ? name : found[i].name, file ? file + 1 : "?", found[i].line);
		free(name);
	}
}

static void expect(const char *flags)
{
	static const char *const marks[] = {"at_outer", "at_middle", "at_inner", "behind",
					    "at_split"};
	static const char *const expected[] = {
		"",
		"ns::Box::middle(int) a.cpp:11",
		"ns::Box::middle(int) a.cpp:11 > inner a.cpp:3",
		"",
		"",
	};
	struct elf_image *img;
	struct line_table *t;
	uint64_t vaddrs[5];
	char text[256], options[256];
	int fd;

	snprintf(options, sizeof(options), "-x none -O2 -shared -fPIC %s", flags);
	compile("inlined.so", "a.cpp", source, options);
	img = open_path("inlined.so", &fd);
	assert_int_equal(symbol_lookup(img, marks, 5, vaddrs), 5);
	assert_int_equal(line_table__open(img, "", &t), 0);
	assert_true(line_table__open_ns(img, "") > 0);
	for (int i = 0; i < 5; i++) {
		describe(t, vaddrs[i], text, sizeof(text));
		assert_string_equal(text, expected[i]);
	}
	describe(t, 1, text, sizeof(text)); /* no code */
	assert_string_equal(text, "");
	line_table__free(t);
	close_image(img, fd);
}

static void test_dwarf_4(void **state)
{
	expect("-gdwarf-4");
}

static void test_dwarf_5(void **state)
{
	expect("-gdwarf-5");
}

static void test_packed(void **state)
{
	expect("-g -gz=zlib");
}

static void test_without(void **state)
{
	struct elf_image *img;
	struct line_table *t;
	int fd;

	compile("inlined.so", "a.cpp", source, "-O2 -shared -fPIC");
	img = open_path("inlined.so", &fd);
	assert_int_equal(line_table__open_ns(img, ""), 0);
	assert_int_equal(line_table__open(img, "", &t), -ENOENT);
	close_image(img, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_4),
		cmocka_unit_test(test_dwarf_5),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_without),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
