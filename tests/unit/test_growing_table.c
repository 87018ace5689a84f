// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of which a part is mapped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tables/growing_table.h"

#define CAP 20000

struct entry {
	uint64_t number, other, third; /* no whole number of them fills a page */
};

static int fd;
static struct entry *file; /* all of it, mapped apart */

static int setup(void **state)
{
	fd = memfd_create("table", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, CAP * sizeof(*file)))
		return -1;
	file = mmap(NULL, CAP * sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return -1;
	for (uint32_t i = 0; i < CAP; i++)
		file[i].number = i + 1;
	return 0;
}

static int teardown(void **state)
{
	munmap(file, CAP * sizeof(*file));
	close(fd);
	return 0;
}

static void what_is_reached_is_the_table(void **state)
{
	const uint32_t reached[] = {1, 4096, 4097, 9000, CAP, CAP + 7};
	struct growing_table g;
	struct entry *at;

	assert_int_equal(growing_table__map(&g, fd, sizeof(*at), CAP), 0);
	at = (struct entry *)g.at;
	for (size_t r = 0; r < sizeof(reached) / sizeof(reached[0]); r++) {
		growing_table__reach(&g, reached[r]);
		assert_ptr_equal(g.at, at);
		assert_true(g.mapped >= (reached[r] < CAP ? reached[r] : CAP) && g.mapped <= CAP);
		for (uint32_t i = 0; i < g.mapped; i++)
			assert_int_equal(at[i].number, i + 1);
	}
	assert_int_equal(g.mapped, CAP);
	at[CAP - 1].other = 17;
	assert_int_equal(file[CAP - 1].other, 17);
	growing_table__unmap(&g);
	assert_null(g.at);
}

static void what_lies_behind_reads_as_0(void **state)
{
	struct growing_table g;

	assert_int_equal(growing_table__map(&g, fd, sizeof(struct entry), CAP), 0);
	assert_true(g.mapped < CAP / 2);
	assert_int_equal(((struct entry *)g.at)[CAP - 1].number, 0);
	growing_table__unmap(&g);
}

static void what_cannot_be_mapped_is_not(void **state)
{
	struct growing_table g;

	assert_int_equal(growing_table__map(&g, -1, sizeof(struct entry), CAP), -EBADF);
	assert_null(g.at);
	assert_int_equal(growing_table__map(&g, fd, sizeof(struct entry), CAP), 0);
	g.fd = -1;
	growing_table__reach(&g, CAP);
	assert_true(g.failed && g.mapped < CAP / 2);
	assert_int_equal(((struct entry *)g.at)[g.mapped - 1].number, g.mapped);
	growing_table__unmap(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_reached_is_the_table),
		cmocka_unit_test(what_lies_behind_reads_as_0),
		cmocka_unit_test(what_cannot_be_mapped_is_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
