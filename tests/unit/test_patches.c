// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that this very process maps, and changes in memory. */
#include "elf_fixture.h"

#include <limits.h>
#include <signal.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "elf/elf_image.h"
#include "target/maps.h"
#include "target/target.h"

static pid_t ends; /* once its mappings are known; 0: none does */
static size_t lists_read;

static int maps_then_end(pid_t pid, int (*fn)(const struct mapping *m, void *ctx), void *ctx)
{
	int err = maps__for_each_mapping(pid, fn, ctx);

	lists_read++;
	if (pid == ends) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return err;
}

#define maps__for_each_mapping maps_then_end
#include "target/patches.c"

#define PAGES 40

static char path[PATH_MAX];
static uint8_t *code; /* the file, as it is mapped */
static struct target_object object;
static struct target_process process;
static struct target target;
static struct patches found;
/* The segment neither begins nor ends with a page. */
static struct elf_segment segment = {.offset = 100, .filesz = 30 * PAGE, .exec = true};

static int map_file(void **state)
{
	static uint8_t bytes[PAGES * PAGE];
	struct stat st;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i % 251;
	snprintf(path, sizeof(path), "%s/code", fixture_dir);
	write_bytes(path, bytes, sizeof(bytes));
	object = (struct target_object){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	assert_true(object.fd >= 0);
	assert_int_equal(fstat(object.fd, &st), 0);
	object.ino = st.st_ino;
	object.dev_major = major(st.st_dev);
	object.dev_minor = minor(st.st_dev);
	object.st_ino = st.st_ino;
	object.st_dev = st.st_dev;
	process = (struct target_process){.pid = getpid(), .pidfd = -1};
	target = (struct target){
		.processes = &process, .processes_cnt = 1, .objects = &object, .objects_cnt = 1};
	code = mmap(NULL, sizeof(bytes), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, object.fd,
		    0);
	assert_ptr_not_equal(code, MAP_FAILED);
	return 0;
}

static int unmap_file(void **state)
{
	patches__clear(&found);
	munmap(code, PAGES * PAGE);
	close(object.fd);
	return unlink(path);
}

static void look(void)
{
	const struct patch_search search = {&segment, 1, &found};

	patches__clear(&found);
	assert_int_equal(patches__find(&target, &search, false), 0);
}

static void change(size_t at)
{
	code[at] ^= 0xff;
}

static void assert_range(size_t index, uint64_t from, uint64_t to)
{
	assert_true(index < found.cnt);
	assert_int_equal(found.items[index].from, from);
	assert_int_equal(found.items[index].to, to);
}

static void nothing_is_patched(void **state)
{
	look();
	assert_int_equal(found.cnt, 0);
	assert_false(patches__touch(&found, 0, UINT64_MAX));
	/* Written, but with what was there. */
	*(volatile uint8_t *)&code[5000] = code[5000];
	look();
	assert_int_equal(found.cnt, 0);
}

/* A process may map 65,000 pieces of its file: the list of them is not read for each one. */
static void many_mappings(void **state)
{
	void *pieces[100];

	for (size_t i = 0; i < 100; i++) {
		pieces[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, object.fd,
				 i % 2 * PAGE);
		assert_ptr_not_equal(pieces[i], MAP_FAILED);
	}
	lists_read = 0;
	look();
	assert_int_equal(found.cnt, 0);
	assert_in_range(lists_read, 1, 2);
	for (size_t i = 0; i < 100; i++)
		munmap(pieces[i], PAGE);
}

static void what_differs(void **state)
{
	for (size_t i = 0; i < 5; i++)
		change(1000 + i);
	change(8 * PAGE - 1); /* across pages */
	change(8 * PAGE);
	change(20 * PAGE + 9);
	look();
	assert_int_equal(found.cnt, 3);
	assert_range(0, 1000, 1005);
	assert_range(1, 8 * PAGE - 1, 8 * PAGE + 1);
	assert_range(2, 20 * PAGE + 9, 20 * PAGE + 10);
	assert_false(patches__touch(&found, 995, 5));
	assert_true(patches__touch(&found, 995, 6));
	assert_true(patches__touch(&found, 1004, 1));
	assert_false(patches__touch(&found, 1005, 10));
	assert_true(patches__touch(&found, 0, UINT64_MAX));
}

/* Data may be in the same file. */
static void code_alone_is_looked_at(void **state)
{
	change(99);
	change(100);
	change(100 + 30 * PAGE - 1);
	change(100 + 30 * PAGE);
	look();
	assert_int_equal(found.cnt, 2);
	assert_range(0, 100, 101);
	assert_range(1, 100 + 30 * PAGE - 1, 100 + 30 * PAGE);
}

/* Breakpoints are other profilers'. */
static void breakpoints_are_none(void **state)
{
	code[1000] = 0xcc;
	code[2000] = 0xcc;
	change(2001);
	look();
	assert_int_equal(found.cnt, 1);
	assert_range(0, 2001, 2002);
}

/* A call is the kernel's only if it leads to the kernel's code. */
static void calls_are_patches(void **state)
{
	static const uint8_t call[] = {0xe8, 0x80, 0x80, 0x80, 0x00};
	static const uint8_t lea[] = {0x48, 0x8d, 0x64, 0x24, 0x80};

	memcpy(code + 3000, call, sizeof(call));
	look();
	assert_int_equal(found.cnt, 1);
	assert_range(0, 3000, 3005);
	/* Calls of other profilers are known also behind the instruction that 7.2 puts before its
	 * calls. */
	memcpy(code + 2995, lea, sizeof(lea));
	look();
	assert_int_equal(found.cnt, 1);
	assert_range(0, 2995, 3005);
}

/* The file is mapped twice, and patched in each. */
static void mappings_are_joined(void **state)
{
	uint8_t *again = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE,
			      object.fd, PAGE);

	assert_ptr_not_equal(again, MAP_FAILED);
	again[10] ^= 1;
	again[11] ^= 1;
	change(PAGE + 9);
	change(PAGE + 10);
	change(PAGE + 300);
	look();
	munmap(again, 2 * PAGE);
	assert_int_equal(found.cnt, 2);
	assert_range(0, PAGE + 9, PAGE + 12);
	assert_range(1, PAGE + 300, PAGE + 301);
}

static void a_process_that_has_ended(void **state)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	process.pid = pid;
	look();
	assert_int_equal(found.cnt, 0);
}

static void a_process_that_ends_meanwhile(void **state)
{
	process.pid = ends = fork();
	if (!ends)
		pause();
	look();
	ends = 0;
	assert_int_equal(found.cnt, 0);
}

static void what_anybody_has_patched(void **state)
{
	const struct patch_search search = {&segment, 1, &found};
	int ready[2], end[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(ready) | pipe(end), 0);
	pid = fork();
	if (!pid) {
		close(end[1]);
		change(1000);
		if (write(ready[1], "", 1) == 1)
			(void)!read(end[0], &c, 1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	look();
	assert_int_equal(found.cnt, 0);
	patches__clear(&found);
	assert_int_equal(patches__find(&target, &search, true), 0);
	close(end[0]);
	close(end[1]);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(found.cnt, 1);
	assert_range(0, 1000, 1001);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, map_file, unmap_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_patched),
		TEST(many_mappings),
		TEST(what_differs),
		TEST(code_alone_is_looked_at),
		TEST(breakpoints_are_none),
		TEST(calls_are_patches),
		TEST(mappings_are_joined),
		TEST(a_process_that_has_ended),
		TEST(a_process_that_ends_meanwhile),
		TEST(what_anybody_has_patched),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
