// SPDX-License-Identifier: GPL-2.0-or-later
/* Code of no file that this very process has mapped, as unwinding knows it. */
#include "elf_fixture.h"

#include "target/target_data.h"
#include "unwind/spaces.h"
#include "wire.h"

#define PAGE  4096
#define AREA  (1024 * PAGE)
#define CODE  (PROT_READ | PROT_EXEC)
#define WRITE (PROT_READ | PROT_WRITE)

static struct wire_unwind_space space;

static int take_space(pid_t pid, const struct wire_unwind_space *found, void *ctx)
{
	space = *found;
	return 0;
}

/* Memory that is no code, with some of it made into something else. */
static uint8_t *area(void)
{
	uint8_t *at = mmap(NULL, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void make(uint8_t *at, int first, int cnt, int prot)
{
	assert_int_equal(mprotect(at + first * PAGE, (size_t)cnt * PAGE, prot), 0);
}

static void look(void)
{
	const struct unwind_sink sink = {.space = take_space};
	struct unwind_spaces spaces = {0};
	struct target target = {0};

	assert_int_equal(unwind_spaces__add(&spaces, &target, getpid(), &sink), 0);
	unwind_spaces__free(&spaces);
}

/* Pages [first, end) are a range, or none begins in the area from page `first` on. */
static size_t expect(const uint8_t *at, size_t i, int first, int end)
{
	while (space.starts[i] < (uintptr_t)at)
		i++;
	if (end) {
		assert_int_equal(space.starts[i], (uintptr_t)at + first * PAGE);
		assert_int_equal(space.ranges[i].end, (uintptr_t)at + end * PAGE);
		assert_int_equal(space.ranges[i].object, WIRE_CALLERS_NO_OBJECT);
	} else {
		assert_true(space.starts[i] >= (uintptr_t)at + AREA);
	}
	return i + 1;
}

/* Memory that is reserved on both sides of code, and memory that is written amid it, count as
 * code. */
static void test_reserved(void **state)
{
	uint8_t *at = area();

	make(at, 4, 4, PROT_NONE);
	make(at, 8, 1, CODE);
	make(at, 9, 2, WRITE);
	make(at, 11, 3, CODE | PROT_WRITE);
	make(at, 14, 10, PROT_NONE);
	look();
	expect(at, expect(at, 0, 4, 24), 0, 0);
	munmap(at, AREA);
}

static void test_apart(void **state)
{
	uint8_t *at = area();
	size_t i;

	make(at, 1, 1, PROT_NONE); /* behind it is no code: a stack's guard */
	make(at, 2, 2, WRITE);
	make(at, 4, 1, CODE);
	make(at, 5, 300, WRITE); /* too much */
	make(at, 305, 2, CODE);
	make(at, 307, 1, WRITE); /* behind it is no code */
	make(at, 308, 4, PROT_NONE);
	make(at, 400, 4, PROT_NONE); /* no code at all */
	look();
	i = expect(at, 0, 4, 5);
	i = expect(at, i, 305, 307);
	expect(at, i, 0, 0);
	munmap(at, AREA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
