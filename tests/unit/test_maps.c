// SPDX-License-Identifier: GPL-2.0-or-later
/* The files that this very process maps as code, under awkward names and deleted. */
#include "elf_fixture.h"

#include <errno.h>
#include <limits.h>

#include "target/maps.h"

#define SIZE 4096

/* A file in the fixture's directory, mapped as code. */
struct mapped {
	char path[PATH_MAX];
	struct stat st;
	void *at;
};

static struct mapped map_as(const char *name, int prot)
{
	static const char page[SIZE] = "\177ELF";
	struct mapped m;
	int fd;

	snprintf(m.path, sizeof(m.path), "%s/%s", fixture_dir, name);
	write_bytes(m.path, page, sizeof(page));
	fd = open(m.path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &m.st), 0);
	m.at = mmap(NULL, SIZE, prot, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(m.at, MAP_FAILED);
	close(fd);
	return m;
}

static struct mapped map_code(const char *name)
{
	return map_as(name, PROT_READ | PROT_EXEC);
}

static void unmap(const struct mapped *m)
{
	munmap(m->at, SIZE);
	unlink(m->path);
}

/* A search for the mapping at one address. */
struct search {
	const struct mapped *wanted;
	struct mapped_file found;
	char path[PATH_MAX];
	int cnt, all;
};

static int look(const struct mapped_file *file, void *ctx)
{
	struct search *s = ctx;

	s->all++;
	if (file->start != (uintptr_t)s->wanted->at)
		return 0;
	s->cnt++;
	s->found = *file;
	snprintf(s->path, sizeof(s->path), "%s", file->path);
	return 0;
}

static struct search find(const struct mapped *m)
{
	struct search s = {.wanted = m};

	assert_int_equal(maps__for_each(getpid(), look, &s), 0);
	return s;
}

/* The mapping is told of once, with `path`, and its file can be opened. */
static void assert_found(const struct mapped *m, const char *path, bool deleted)
{
	struct search s = find(m);
	struct stat st;
	int fd;

	assert_int_equal(s.cnt, 1);
	assert_string_equal(s.path, path);
	assert_int_equal(s.found.deleted, deleted);
	assert_int_equal(s.found.end - s.found.start, SIZE);
	assert_int_equal(s.found.ino, m->st.st_ino);
	fd = maps__open(getpid(), &s.found);
	if (fd == -EPERM && geteuid())
		return; /* map_files is for the privileged */
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_ino, m->st.st_ino);
	assert_int_equal(st.st_dev, m->st.st_dev);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
}

static void awkward_names(void **state)
{
	static const char *const names[] = {"plain",	   "with two  spaces", " leading",
					    "trailing ",   "new\nline",	       "\n",
					    "back\\slash", "r-xp 00000000",    "(deleted)"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mapped m = map_code(names[i]);

		assert_found(&m, m.path, false);
		unmap(&m);
	}
}

/* The kernel escapes nothing but newlines: what else looks like an escape is the name itself. */
static void names_with_backslashes_and_digits(void **state)
{
	struct mapped m = map_code("a\\101b");

	assert_found(&m, m.path, false);
	unmap(&m);
}

static void deleted_files(void **state)
{
	static const char *const names[] = {"gone", "gone with\nspace", "gone (deleted)"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mapped m = map_code(names[i]);

		assert_int_equal(unlink(m.path), 0);
		assert_found(&m, m.path, true);
		unmap(&m);
	}
}

static void replaced_files(void **state)
{
	struct mapped m = map_code("replaced"), other = map_code("other");

	assert_int_equal(rename(other.path, m.path), 0);
	assert_found(&m, m.path, true);
	assert_found(&other, m.path, false);
	unmap(&m);
	unmap(&other);
}

static void a_file_is_told_of_once(void **state)
{
	struct mapped m = map_code("twice"), again = m;
	int fd = open(m.path, O_RDONLY | O_CLOEXEC);

	again.at = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_ptr_not_equal(again.at, MAP_FAILED);
	assert_int_equal(find(&m).cnt + find(&again).cnt, 1);
	munmap(again.at, SIZE);
	unmap(&m);
}

static void only_code_of_files(void **state)
{
	struct mapped data = map_as("data", PROT_READ), anon = data;

	anon.at = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(anon.at, MAP_FAILED);
	assert_int_equal(find(&data).cnt, 0);
	assert_int_equal(find(&anon).cnt, 0);
	assert_true(find(&data).all >= 2); /* ourselves and libc at least */
	munmap(anon.at, SIZE);
	unmap(&data);
}

/* A list as text, as the kernel writes it; and lines that are none, which are passed over. */
static int note_line(const struct mapped_file *file, void *ctx)
{
	char *text = ctx;

	sprintf(text + strlen(text), "%lx-%lx %x:%x %lu %s%s\n", file->start, file->end,
		file->dev_major, file->dev_minor, file->ino, file->path,
		file->deleted ? ", deleted" : "");
	return 0;
}

static void lists_as_text(void **state)
{
	static char list[] =
		"560e5f89c000-560e5f8fb000 r-xp 0005f000 fe:00 333611                     /bin/x\n"
		"7fffffffe000-7ffffffff000 r-xp 00000000 103:0a 18446744073709551615 /a b "
		"(deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0         [vsyscall]\n"
		"7f2efd217000-7f2efd218000 rwxp 00000000 00:00 0 \n"
		"-1000 r-xp 00000000 fe:00 1 /no-start\n"
		"1000-2000 r-x 00000000 fe:00 2 /three-letters\n"
		"1000-2000 r-xps 00000000 fe:00 3 /five-letters\n"
		"1000-2000 r-xp 00000000 fe-00 4 /no-colon\n"
		"1000-2000 r-xp\n"
		"\n"
		"1000-2000 r-xp 00001000 fe:00 5 /last";
	char text[1024] = "";
	FILE *f = fmemopen(list, strlen(list), "r");

	assert_non_null(f);
	assert_int_equal(maps__parse(f, note_line, text), 0);
	fclose(f);
	assert_string_equal(text, "560e5f89c000-560e5f8fb000 fe:0 333611 /bin/x\n"
				  "7fffffffe000-7ffffffff000 103:a 18446744073709551615 /a b, "
				  "deleted\n"
				  "1000-2000 fe:0 5 /last\n");
}

static int stop(const struct mapped_file *file, void *ctx)
{
	return ++*(int *)ctx == 2 ? -E2BIG : 0;
}

static void the_callback_may_end_it(void **state)
{
	int calls = 0;

	assert_int_equal(maps__for_each(getpid(), stop, &calls), -E2BIG);
	assert_int_equal(calls, 2);
}

static void no_such_process(void **state)
{
	int calls = 0;

	assert_int_equal(maps__for_each(0x7fffffff, stop, &calls), -ENOENT);
	assert_int_equal(calls, 0);
}

static void no_such_mapping(void **state)
{
	const struct mapped_file file = {.path = "/x", .start = 0x1000, .end = 0x2000};

	assert_true(maps__open(getpid(), &file) < 0);
	assert_true(maps__open(0x7fffffff, &file) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(awkward_names),
		cmocka_unit_test(names_with_backslashes_and_digits),
		cmocka_unit_test(deleted_files),
		cmocka_unit_test(replaced_files),
		cmocka_unit_test(a_file_is_told_of_once),
		cmocka_unit_test(only_code_of_files),
		cmocka_unit_test(lists_as_text),
		cmocka_unit_test(the_callback_may_end_it),
		cmocka_unit_test(no_such_process),
		cmocka_unit_test(no_such_mapping),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
