// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the dynamic linker has put a library's thread-local variables: of libraries of our own, and
 * lists that lie. */
#include "elf_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <unistd.h>

#include "arch/arch.h"
#include "security/link_map.h"
#include "symbol/thread_variable.h"

/* An entry as a dynamic linker could have it, and the number behind its known members. */
struct made_entry {
	uint64_t address, name, dynamic, next, previous, offset;
};

static struct {
	uint64_t version, first;
} made_list = {.version = 1};

static struct made_entry entries[3];

static int64_t ask(uint64_t dynamic, uint32_t field)
{
	const struct link_map_query q = {(uintptr_t)&made_list, dynamic, field};

	return link_map__tls_offset(getpid(), &q);
}

static void link_entries(void)
{
	memset(entries, 0, sizeof(entries));
	made_list.first = (uintptr_t)&entries[0];
	for (int i = 0; i < 3; i++) {
		entries[i].dynamic = 1000 + i;
		entries[i].next = i < 2 ? (uintptr_t)&entries[i + 1] : 0;
		entries[i].offset = 64 << i;
	}
}

static void test_found_by_its_section(void **state)
{
	const uint32_t field = offsetof(struct made_entry, offset);

	link_entries();
	assert_int_equal(ask(1000, field), 64);
	assert_int_equal(ask(1002, field), 256);
	assert_int_equal(ask(1003, field), -ENOENT);
	assert_int_equal(ask(1000, 0), -EINVAL);
	assert_int_equal(ask(1000, LINK_MAP_FIELD + 1), -EINVAL);
}

/* Only small distances are told. */
static void test_no_distance(void **state)
{
	static const uint64_t offsets[] = {0, UINT64_MAX, UINT64_MAX - 1, LINK_MAP_OFFSET + 1,
					   0x7f0000001000};

	link_entries();
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		entries[1].offset = offsets[i];
		assert_int_equal(ask(1001, offsetof(struct made_entry, offset)), -ERANGE);
	}
}

static void test_lists_that_lie(void **state)
{
	const uint32_t field = offsetof(struct made_entry, offset);

	link_entries();
	entries[2].next = (uintptr_t)&entries[0]; /* no end */
	assert_int_equal(ask(1003, field), -ENOENT);
	entries[1].next = 16;
	assert_int_equal(ask(1002, field), -EIO);
	entries[1].next = UINT64_MAX - 7;
	assert_int_equal(ask(1002, field), -EIO);
	made_list.first = 0;
	assert_int_equal(ask(1000, field), -ENOENT);
}

/* errno is a variable of libc's, of which each thread knows the address. */
static void test_libc(void **state)
{
	const uint32_t *field = dlsym(RTLD_DEFAULT, "_thread_db_link_map_l_tls_offset");
	struct link_map_query q = {.list = (uintptr_t)&_r_debug};
	struct link_map *map = NULL;
	struct thread_variable v;
	struct elf_image *img;
	Dl_info info;
	int64_t distance;
	int fd;

	if (!field || !dladdr1((void *)getpid, &info, (void **)&map, RTLD_DL_LINKMAP))
		skip();
	q.field = field[2];
	q.dynamic = (uintptr_t)map->l_ld;
	distance = link_map__tls_offset(getpid(), &q);
	assert_true(distance > 0);
	img = open_path(info.dli_fname, &fd);
	assert_false(thread_variable__find(img, "errno", &v));
	assert_true(thread_variable__in_library(img, "errno", &v));
	assert_int_equal(v.size, sizeof(errno));
	v.offset += elf_image__arch(img)->thread_header ? distance : -distance;
	assert_ptr_equal((char *)__builtin_thread_pointer() + v.offset, &errno);
	close_image(img, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_by_its_section),
		cmocka_unit_test(test_no_distance),
		cmocka_unit_test(test_lists_that_lie),
		cmocka_unit_test(test_libc),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
