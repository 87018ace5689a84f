// SPDX-License-Identifier: GPL-2.0-or-later
/* Places of thread-local variables, against those that the linker itself writes into a file. */
#include "elf_fixture.h"

#include "elf/lookup.h"
#include "symbol/thread_variable.h"

/* `at_...` holds a variable's distance from the thread pointer, as the linker knows it. */
#ifdef __x86_64__
#define PLACE(AT, SYMBOL) "asm(\".data; .globl " AT "; " AT ": .quad " SYMBOL "@tpoff; .text\");\n"
#endif

static const char source[] =
	"namespace request { thread_local long id = 7; }\n"
	"thread_local char name[37];\n"
	"static thread_local short small = 3;\n"
	"thread_local long aligned __attribute__((aligned(128))) = 1;\n"
	"long plain;\n"
	"int main() { small += plain; return request::id + name[0] + small + aligned + plain; }\n"
#ifdef PLACE
	PLACE("at_id", "_ZN7request2idE") PLACE("at_name", "name") PLACE("at_small", "_ZL5small")
		PLACE("at_aligned", "aligned")
#endif
	;

static void expect(const struct elf_image *img, const char *name, const char *place, uint64_t size)
{
	struct thread_variable v;
	uint64_t vaddr;
	int64_t offset;

	assert_true(thread_variable__find(img, name, &v));
	assert_int_equal(v.size, size);
#ifdef PLACE
	assert_int_equal(symbol_lookup(img, &place, 1, &vaddr), 1);
	assert_true(elf_image__read_vaddr(img, vaddr, &offset, sizeof(offset)));
	assert_int_equal(v.offset, offset);
#else
	(void)place, (void)vaddr, (void)offset;
#endif
}

static void expect_all(const char *flags)
{
	struct thread_variable v;
	struct elf_image *img;
	int fd;

	write_text("a.cpp", source);
	sh("g++ -std=c++17 -w %s -o variables a.cpp", flags);
	img = open_path("variables", &fd);
	expect(img, "id", "at_id", 8);
	expect(img, "request::id", "at_id", 8);
	expect(img, "name", "at_name", 37);
	expect(img, "small", "at_small", 2);
	expect(img, "aligned", "at_aligned", 8);
	/* No thread has one of its own; there is none; a part of a name. */
	assert_false(thread_variable__find(img, "plain", &v));
	assert_false(thread_variable__find(img, "other", &v));
	assert_false(thread_variable__find(img, "d", &v));
	close_image(img, fd);
}

static void test_program(void **state)
{
	expect_all("-O1 -no-pie");
}

static void test_static(void **state)
{
	expect_all("-O1 -static -no-pie");
}

/* Where a library's variables lie is the dynamic linker's to say. */
static void test_library(void **state)
{
	struct thread_variable v;
	struct elf_image *img;
	int fd;

	write_text("b.cpp", "thread_local long id = 7;\n");
	sh("g++ -shared -fPIC -o library.so b.cpp");
	img = open_path("library.so", &fd);
	assert_false(thread_variable__find(img, "id", &v));
	close_image(img, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_library),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
