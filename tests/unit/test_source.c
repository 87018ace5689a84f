// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of real compilers, with debug information of each kind. */
#include "elf_fixture.h"

#include <errno.h>

#include "dwarf/line_table.h"
#include "symbol/symtab.h"

struct expected {
	const char *symbol, *file; /* its end; NULL: none */
	uint32_t line;
};

/* A path ends with `end`, which begins a name of it. */
static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), tail = strlen(end);

	return len >= tail && !strcmp(path + len - tail, end) &&
	       (len == tail || path[len - tail - 1] == '/');
}

/* All functions of the table are asked for; `expected` are among them. */
static void expect_places(const char *path, const struct expected *expected, size_t cnt)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct line_table *table = NULL;
	struct line_row *places;
	struct elf_image *img;
	struct symtab *tab;
	size_t symbols;

	assert_true(fd >= 0);
	assert_int_equal(elf_image__open(fd, path, &img), 0);
	assert_int_equal(symtab__load(img, "", &tab), 0);
	symbols = symtab__count(tab);
	places = calloc(symbols + 1, sizeof(*places));
	assert_non_null(places);
	err = line_table__open(img, "", &table);
	assert_int_equal(err, cnt ? 0 : -ENOENT);
	for (size_t i = 0; table && i < symbols; i++)
		assert_int_equal(line_table__place(table, symtab__at(tab, i)->vaddr, &places[i]),
				 0);
	for (size_t i = 0; i < cnt; i++) {
		size_t k = 0;

		while (k < symbols && strcmp(symtab__at(tab, k)->name, expected[i].symbol))
			k++;
		if (k == symbols)
			fail_msg("%s: no %s", path, expected[i].symbol);
		if (!expected[i].file) {
			assert_null(places[k].file);
			assert_int_equal(places[k].line, 0);
			continue;
		}
		if (!places[k].file || !ends_with(places[k].file, expected[i].file) ||
		    places[k].line != expected[i].line)
			fail_msg("%s: %s is at %s:%u", path, expected[i].symbol,
				 places[k].file ? places[k].file : "(unknown)", places[k].line);
		/* The path is whole, and the file exists. */
		assert_true(*places[k].file == '/' && !strstr(places[k].file, "/./"));
		assert_int_equal(access(places[k].file, R_OK), 0);
	}
	line_table__free(table);
	free(places);
	symtab__free(tab);
	elf_image__free(img);
	close(fd);
}

#define EXPECT(path, ...)                                           \
	expect_places(path, (const struct expected[]){__VA_ARGS__}, \
		      sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

/* The header's function is defined there; the other begins where it is named, not at its brace. */
static void write_sources(void)
{
	sh("mkdir -p include src");
	write_text("include/h.h", "\n\n__attribute__((noinline)) static int in_header(int n)\n"
				  "{\n\treturn n * 3;\n}\n");
	write_text("src/a.c", "#include \"h.h\"\n\n"
			      "__attribute__((noinline)) int\nlater(int n)\n\n\n"
			      "{\n\treturn in_header(n) + 1;\n}\n"
			      "int main(int argc, char **argv)\n{\n\treturn later(argc);\n}\n");
	write_text("src/b.c", "int other(void)\n{\n\treturn 7;\n}\n");
}

static void test_compilers(void **state)
{
	static const char *const compilers[] = {"gcc", "clang"};
	static const char *const flags[] = {
		"-gdwarf-4",	       "-gdwarf-5",	      "-gdwarf-5 -gz=zlib", "-gdwarf-4 -O2",
		"-gdwarf-5 -O2 -flto", "-gdwarf-5 -gdwarf64", "-gdwarf-3",	    "-gdwarf-2"};

	write_sources();
	for (size_t c = 0; c < sizeof(compilers) / sizeof(*compilers); c++) {
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
			bool lto = strstr(flags[i], "-flto") != NULL;

			sh("%s %s %s -Iinclude -o prog ./src/a.c src/b.c", compilers[c], flags[i],
			   c && lto ? "-fuse-ld=lld" : "");
			if (lto)
				EXPECT("prog", {"main", "src/a.c", 10});
			else
				EXPECT("prog", {"in_header", "include/h.h", 3},
				       {"later", "src/a.c", 4}, {"main", "src/a.c", 10},
				       {"other", "src/b.c", 1}, {"_start", NULL, 0});
		}
	}
}

/* Units of both compilers: clang leaves .debug_aranges out. */
static void test_mixed(void **state)
{
	write_sources();
	sh("gcc -g -Iinclude -c -o a.o src/a.c && clang -g -c -o b.o src/b.c && gcc -o prog a.o "
	   "b.o");
	EXPECT("prog", {"later", "src/a.c", 4}, {"other", "src/b.c", 1});
}

static void test_separate_file(void **state)
{
	write_sources();
	sh("gcc -g -Wl,--build-id=none -Iinclude -o prog src/a.c src/b.c && "
	   "objcopy --only-keep-debug prog prog.debug && strip -g prog && "
	   "objcopy --add-gnu-debuglink=prog.debug prog");
	EXPECT("prog", {"later", "src/a.c", 4}, {"other", "src/b.c", 1});
	sh("rm prog.debug");
	expect_places("prog", NULL, 0);
}

/* Members, namespaces, and what the compiler makes of its own accord. */
static void test_cplusplus(void **state)
{
	write_text("c.cc", "namespace a::b {\n"
			   "struct S {\n"
			   "\tint declared(int n);\n"
			   "\t__attribute__((noinline)) int within(int n) { return n + 1; }\n"
			   "};\n"
			   "int S::declared(int n) { return within(n); }\n"
			   "template <class T>\n__attribute__((noinline)) T twice(T t)\n"
			   "{\n\treturn t + t;\n}\n"
			   "}\n"
			   "int main() { a::b::S s; return s.declared(a::b::twice(1)); }\n");
	for (int i = 0; i < 4; i++) {
		sh("%s -g %s -o prog c.cc", i % 2 ? "clang++" : "g++", i / 2 ? "-O1" : "");
		EXPECT("prog", {"_ZN1a1b1S8declaredEi", "c.cc", 6},
		       {"_ZN1a1b1S6withinEi", "c.cc", 4}, {"_ZN1a1b5twiceIiEET_S2_", "c.cc", 8},
		       {"main", "c.cc", 13});
	}
}

/* Assembler declares nothing: the line table has the place. */
static void test_assembler(void **state)
{
	write_text("s.s", ".text\n.globl main, two\n.type main,@function\n.type two,@function\n"
			  "main: call two\nret\n.size main,.-main\n"
			  "two: xor %eax,%eax\nret\n.size two,.-two\n");
	sh("gcc -g -o prog s.s");
	EXPECT("prog", {"main", "s.s", 5}, {"two", "s.s", 8});
}

static void test_nothing(void **state)
{
	write_sources();
	sh("gcc -g0 -Iinclude -o prog src/a.c");
	expect_places("prog", NULL, 0);
}

/* Files that claim anything: a byte of the debug information is another, here and there. */
static void test_damaged(void **state)
{
	uint64_t vaddr = 0;
	struct symtab *tab;
	uint8_t *bytes;
	size_t size;
	int fd;

	write_sources();
	sh("gcc -gdwarf-5 -Iinclude -shared -nostdlib -fPIC -Wl,-z,noseparate-code -o prog src/a.c "
	   "src/b.c");
	bytes = read_bytes("prog", &size);
	struct elf_image *img = open_path("prog", &fd);
	assert_int_equal(symtab__load(img, "", &tab), 0);
	vaddr = symtab__at(tab, 0)->vaddr;
	symtab__free(tab);
	close_image(img, fd);
	/* Debug information is behind what is loaded. */
	for (size_t at = 0x300; at < size; at++) {
		struct line_table *table = NULL;
		struct line_row place;
		uint8_t before = bytes[at];

		bytes[at] = at % 2 ? 0xff : ~before;
		fd = memfd_with(bytes, size);
		bytes[at] = before;
		if (!elf_image__try(fd, "broken", &img)) {
			if (!line_table__open(img, "", &table))
				assert_int_equal(line_table__place(table, vaddr, &place), 0);
			line_table__free(table);
			elf_image__free(img);
		}
		close(fd);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compilers),     cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_separate_file), cmocka_unit_test(test_cplusplus),
		cmocka_unit_test(test_assembler),     cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
