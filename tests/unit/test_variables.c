// SPDX-License-Identifier: GPL-2.0-or-later
/* Members of variables, against the compiler's own offsets in the file's data. */
#include "elf_fixture.h"

#include <errno.h>

#include "dwarf/variables.h"
#include "elf/lookup.h"

/* Each `at_...` is the offset of a place in log_file, but for that of shards, at_7. */
static const char source[] =
	"#include <condition_variable>\n"
	"#include <array>\n"
	"#include <mutex>\n"
	"#include <pthread.h>\n"
	"#include <semaphore.h>\n"
	"#define AT(NAME, OFFSET) \\\n"
	"	asm volatile(\".globl \" #NAME \"\\n.set \" #NAME \", %c0\" :: \"i\"(OFFSET))\n"
	"#define IN_LOG(PLACE) __builtin_offsetof(Log, PLACE)\n"
	"struct Empty {};\n"
	"struct Base { long unused; pthread_mutex_t inherited; };\n"
	"typedef struct { int a; unsigned bits : 3, more : 5; pthread_mutex_t lock; } Shard;\n"
	"struct Log : Empty, Base {\n"
	"	static int count;\n"
	"	void flush();\n"
	"	char name[64];\n"
	"	std::mutex lock;\n"
	"	union { long number; pthread_rwlock_t rw; };\n"
	"	struct { sem_t items; std::condition_variable ready; } queue;\n"
	"	std::array<std::mutex, 3> stripes;\n"
	"	int futexes[2][5];\n"
	"	Shard rest[];\n"
	"};\n"
	"extern \"C\" {\n"
	"struct Log log_file;\n"
	"Shard shards[7];\n"
	"pthread_mutex_t plain;\n"
	"pthread_cond_t condition;\n"
	"int *pointer;\n"
	"void use(void *);\n"
	"void work(void)\n"
	"{\n"
	"	use(&pointer);\n"
	"	AT(at_0, IN_LOG(inherited));\n"
	"	AT(at_1, IN_LOG(name[7]));\n"
	"	AT(at_2, IN_LOG(lock));\n"
	"	AT(at_3, IN_LOG(rw));\n"
	"	AT(at_4, IN_LOG(queue.items));\n"
	"	AT(at_5, IN_LOG(queue.ready) + 8);\n"
	"	AT(at_6, IN_LOG(futexes[1][3]));\n"
	"	AT(at_7, 3 * sizeof(Shard) + __builtin_offsetof(Shard, lock));\n"
	"	AT(at_8, IN_LOG(stripes) + 2 * sizeof(std::mutex));\n"
	"	AT(at_9, IN_LOG(rw) + 8);\n"
	"	AT(at_10, IN_LOG(rw) + 12);\n"
	"}\n"
	"}\n"
	"namespace ns { Shard *inside() { static Shard local; return &local; } }\n"
	"asm(\".globl local_here\\n.set local_here, _ZZN2ns6insideEvE5local\");\n";

static const char *const names[] = {"at_0", "at_1", "at_2", "at_3", "at_4", "at_5",
				    "at_6", "at_7", "at_8", "at_9", "at_10"};
static const char *const expected[] = {
	".inherited",	  ".name[7]", ".lock",	     ".rw", ".queue.items", ".queue.ready",
	".futexes[1][3]", "[3].lock", ".stripes[2]", ".rw", ".rw",
};
/* Names of the innermost members; NULL: not looked at. */
static const char *const words[] = {
	"__lock", "name",   "__lock",	       "__readers",	  NULL, NULL, "futexes",
	"__lock", "__lock", "__wrphase_futex", "__writers_futex",
};

enum { PLACES = sizeof(names) / sizeof(*names) };

/* Where it lies, or, of an `at_...`, which is absolute, the offset. */
static uint64_t symbol(const struct elf_image *img, const char *name)
{
	uint64_t vaddr;

	assert_int_equal(symbol_lookup(img, &name, 1, &vaddr), 1);
	return vaddr;
}

static void expect(const char *compiler)
{
	struct elf_image *img;
	struct variables *v;
	char path[VARIABLE_PATH], word[VARIABLE_WORD];
	int fd;

	write_text("a.cpp", source);
	sh("%s -std=c++17 -w -shared -fPIC -o variables.so a.cpp", compiler);
	img = open_path("variables.so", &fd);
	assert_int_equal(variables__open(img, "", &v), 0);
	for (size_t i = 0; i < PLACES; i++) {
		uint64_t vaddr = symbol(img, i == 7 ? "shards" : "log_file");

		assert_true(variables__member(v, vaddr, symbol(img, names[i]), path, word));
		assert_string_equal(path, expected[i]);
		if (words[i])
			assert_string_equal(word, words[i]);
	}
	assert_true(variables__member(v, symbol(img, "plain"), 0, path, word));
	assert_string_equal(path, "");
	assert_true(variables__member(v, symbol(img, "condition"), 12, path, word));
	assert_string_equal(path, "");
	assert_true(variables__member(v, symbol(img, "pointer"), 4, path, word));
	assert_string_equal(path, "");
	/* In a function; behind the end; and what is no variable. */
	assert_true(variables__member(v, symbol(img, "local_here"), 8, path, word));
	assert_string_equal(path, ".lock");
	assert_true(variables__member(v, symbol(img, "shards"), 1000000, path, word));
	assert_string_equal(path, "");
	assert_false(variables__member(v, symbol(img, "work"), 0, path, word));
	assert_string_equal(path, "");
	variables__free(v);
	close_image(img, fd);
}

static void test_dwarf_4(void **state)
{
	expect("g++ -O2 -gdwarf-4");
}

static void test_dwarf_5(void **state)
{
	expect("g++ -O2 -gdwarf-5");
}

static void test_types(void **state)
{
	expect("g++ -gdwarf-5 -gz=zlib -fdebug-types-section");
}

static void test_clang(void **state)
{
	expect("clang++ -O1 -gdwarf-5");
}

static void test_without(void **state)
{
	struct elf_image *img;
	struct variables *v;
	int fd;

	compile("variables.so", "a.cpp", source, "-std=c++17 -w -shared -fPIC");
	img = open_path("variables.so", &fd);
	assert_int_equal(variables__open(img, "", &v), -ENOENT);
	close_image(img, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_4), cmocka_unit_test(test_dwarf_5),
		cmocka_unit_test(test_types),	cmocka_unit_test(test_clang),
		cmocka_unit_test(test_without),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
