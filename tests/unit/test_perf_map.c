// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of what JIT compilers have made: strangers' files. */
#include "elf_fixture.h"

#include <errno.h>
#include <limits.h>

#include "symbol/perf_map.h"

struct list {
	struct perf_map *map;
	int fd;
};

static struct list begin(void)
{
	struct list l = {perf_map__new(), memfd_create("map", MFD_CLOEXEC)};

	assert_non_null(l.map);
	assert_true(l.fd >= 0);
	return l;
}

static void end(struct list *l)
{
	perf_map__free(l->map);
	close(l->fd);
}

static void append(struct list *l, const char *text)
{
	assert_int_equal(write(l->fd, text, strlen(text)), strlen(text));
}

static void expect(const struct list *l, uint64_t address, const char *name)
{
	const char *found = perf_map__find(l->map, address);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

static void test_names(void **state)
{
	struct list l = begin();

	assert_int_equal(perf_map__read(l.map, l.fd), 0);
	expect(&l, 0x1000, NULL);
	append(&l, "7f0000002000 40 JS:^area /tmp/a b.js:3:8\n1000 10 first\n");
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0xfff, NULL);
	expect(&l, 0x1000, "first");
	expect(&l, 0x100f, "first");
	expect(&l, 0x1010, NULL);
	expect(&l, 0x7f000000203f, "JS:^area /tmp/a b.js:3:8");
	expect(&l, 0x7f0000002040, NULL);
	expect(&l, UINT64_MAX, NULL);
	end(&l);
}

/* The later line has what both have, and leaves the rest on both sides. */
static void test_overlaps(void **state)
{
	struct list l = begin();

	append(&l, "1000 100 old\n1040 20 new\n10f0 20 over\n2000 10 gone\n1ff0 30 all\n");
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0x1000, "old");
	expect(&l, 0x103f, "old");
	expect(&l, 0x1040, "new");
	expect(&l, 0x105f, "new");
	expect(&l, 0x1060, "old");
	expect(&l, 0x10f0, "over");
	expect(&l, 0x110f, "over");
	expect(&l, 0x1110, NULL);
	expect(&l, 0x2008, "all");
	end(&l);
}

static void test_growth(void **state)
{
	struct list l = begin();

	append(&l, "1000 100 old\n2000 1");
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	assert_int_equal(perf_map__read(l.map, l.fd), 0);
	expect(&l, 0x2000, NULL); /* the line has no end yet */
	append(&l, "0 later\n1000 80 again\n");
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0x2000, "later");
	expect(&l, 0x1000, "again");
	expect(&l, 0x1080, "old");
	/* Another program begins the list anew. */
	assert_int_equal(ftruncate(l.fd, 0), 0);
	assert_int_equal(lseek(l.fd, 0, SEEK_SET), 0);
	append(&l, "2000 10 other\n");
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0x2000, "other");
	expect(&l, 0x1000, NULL);
	end(&l);
}

static void test_hostile(void **state)
{
	static const char zeros[64];
	char name[4 * PERF_MAP_NAME];
	struct list l = begin();

	append(&l, "\n \n1000\n1000 10\n1000 10 \nname 10 name\n1000 0 empty\n"
		   "ffffffffffffffff 2 wraps\n10000000000000000 10 long\n1000 -10 less\n");
	assert_int_equal(write(l.fd, zeros, sizeof(zeros)), sizeof(zeros));
	append(&l, "3000 10 behind zeros\n2000 10 ");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	append(&l, name);
	append(&l, "\nfffffffffffffffe 1 last\n");
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0x1000, NULL);
	expect(&l, 0x3000, NULL);
	assert_int_equal(strlen(perf_map__find(l.map, 0x2000)), PERF_MAP_NAME);
	expect(&l, UINT64_MAX - 1, "last");
	expect(&l, UINT64_MAX, NULL);
	end(&l);
}

/* More lines than are kept, all of them overlapping: the last ones stay. */
static void test_bounds(void **state)
{
	struct list l = begin();
	FILE *f = fdopen(dup(l.fd), "w");

	assert_non_null(f);
	for (uint32_t i = 0; i < PERF_MAP_LINES + 10; i++)
		fprintf(f, "%x %x f%x\n", 0x1000 + i, PERF_MAP_LINES * 4, i);
	fclose(f);
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0x1000, NULL); /* the first ones are forgotten */
	expect(&l, 0x1000 + PERF_MAP_LINES, "f40000");
	expect(&l, 0x1000 + PERF_MAP_LINES + 9, "f40009");
	/* A list so large that its beginning is not read; reading then begins amid a line. */
	assert_int_equal(ftruncate(l.fd, 0), 0);
	assert_int_equal(pwrite(l.fd, "1000 10 first\n", 14, 0), 14);
	assert_int_equal(pwrite(l.fd, "\n2000 10 last\n", 14, PERF_MAP_BYTES + 100), 14);
	assert_int_equal(perf_map__read(l.map, l.fd), 1);
	expect(&l, 0x1000, NULL);
	expect(&l, 0x2000, "last");
	end(&l);
}

/* The list of this process: there is none, it is a link, it is no file, and there is one. */
static void test_open(void **state)
{
	char path[64], other[PATH_MAX];
	struct list l = begin();
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s/other.map", fixture_dir);
	write_bytes(other, "1000 10 f\n", 10);
	unlink(path);
	assert_int_equal(perf_map__open(getpid()), -ENOENT);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(perf_map__open(getpid()), -ELOOP);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(perf_map__open(getpid()), -EINVAL);
	unlink(path);
	write_bytes(path, "1000 10 f\n", 10);
	fd = perf_map__open(getpid());
	assert_true(fd >= 0);
	assert_int_equal(perf_map__read(l.map, fd), 1);
	expect(&l, 0x1000, "f");
	close(fd);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(perf_map__open(getpid()), -EPERM);
	}
	unlink(path);
	assert_int_equal(perf_map__open(INT_MAX), -ESRCH);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),  cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_growth), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
