// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arch/prefix_memo.h"

static struct prefix_memo *memo;

static int setup(void **state)
{
	memo = calloc(1, sizeof(*memo));
	return memo ? 0 : -1;
}

static int teardown(void **state)
{
	free(memo);
	return 0;
}

/* Bytes behind a string make no difference, and do not have to be there. */
static void test_is_found_again(void **state)
{
	const uint8_t mov[] = {0x48, 0x89, 0xe5, 1, 2, 3, 4, 5, 6}, other[] = {0x48, 0x89, 0xe5};
	const uint8_t like_it[] = {0x48, 0x89, 0xe6, 1, 2, 3, 4, 5, 6};
	int slot;

	assert_int_equal(prefix_memo__find(memo, mov, sizeof(mov)), -1);
	slot = prefix_memo__add(memo, mov, sizeof(mov), 3, 0);
	assert_in_range(slot, 0, PREFIX_MEMO_ENTRIES - 1);
	assert_int_equal(memo->length[slot], 3);
	assert_int_equal(prefix_memo__find(memo, mov, sizeof(mov)), slot);
	assert_int_equal(prefix_memo__find(memo, other, sizeof(other)), slot);
	assert_int_equal(prefix_memo__find(memo, like_it, sizeof(like_it)), -1);
}

/* Four bytes come behind, whatever they are; but they must be there. */
static void test_with_any_bytes_behind(void **state)
{
	const uint8_t mov[] = {0x8b, 0x05, 1, 2, 3, 4}, other[] = {0x8b, 0x05, 9, 9, 9, 9};
	int slot = prefix_memo__add(memo, mov, sizeof(mov), 2, 4);

	assert_in_range(slot, 0, PREFIX_MEMO_ENTRIES - 1);
	assert_int_equal(memo->length[slot] + memo->any[slot], 6);
	assert_int_equal(prefix_memo__find(memo, other, sizeof(other)), slot);
	assert_int_equal(prefix_memo__find(memo, other, sizeof(other) - 1), -1);
}

static void test_is_not_found_where_it_is_cut(void **state)
{
	const uint8_t zeros[8] = {0};

	for (size_t length = 2; length <= PREFIX_MEMO_LONGEST; length++) {
		teardown(NULL);
		setup(NULL);
		assert_int_not_equal(prefix_memo__add(memo, zeros, 8, length, 0), -1);
		assert_int_equal(prefix_memo__find(memo, zeros, length - 1), -1);
		assert_int_not_equal(prefix_memo__find(memo, zeros, length), -1);
	}
}

static void test_of_one_byte(void **state)
{
	const uint8_t push[] = {0x55, 0x48}, alone[] = {0x55}, other[] = {0x55, 0x89};
	int slot = prefix_memo__add(memo, push, 2, 1, 0);

	assert_int_equal(prefix_memo__find(memo, push, 2), slot);
	/* A string is looked up with the bytes behind it, too: before other bytes it is not known.
	 */
	assert_int_equal(prefix_memo__find(memo, other, 2), -1);
	assert_int_equal(prefix_memo__add(memo, other, 2, 1, 0), slot);
	assert_int_equal(prefix_memo__find(memo, other, 2), slot);
	assert_int_equal(prefix_memo__find(memo, alone, 1), -1);
}

static void test_too_long(void **state)
{
	const uint8_t bytes[16] = {1};

	assert_int_equal(prefix_memo__add(memo, bytes, 16, 9, 0), -1);
	assert_int_equal(prefix_memo__add(memo, bytes, 16, 0, 0), -1);
	assert_int_equal(prefix_memo__add(memo, bytes, 3, 4, 0), -1);
	assert_int_not_equal(prefix_memo__add(memo, bytes, 8, 8, 0), -1);
}

/* More strings than slots: each slot is that of the string that was added last. */
static void test_slots_are_taken_over(void **state)
{
	static uint32_t owner[PREFIX_MEMO_ENTRIES];
	uint32_t found = 0;

	for (uint32_t i = 1; i <= 4 * PREFIX_MEMO_ENTRIES; i++) {
		int slot = prefix_memo__add(memo, (const uint8_t *)&i, sizeof(i), sizeof(i), 0);

		assert_in_range(slot, 0, PREFIX_MEMO_ENTRIES - 1);
		owner[slot] = i;
	}
	for (uint32_t i = 1; i <= 4 * PREFIX_MEMO_ENTRIES; i++) {
		int slot = prefix_memo__find(memo, (const uint8_t *)&i, sizeof(i));

		if (slot >= 0)
			assert_int_equal(owner[slot], i);
		found += slot >= 0;
	}
	assert_in_range(found, PREFIX_MEMO_ENTRIES / 2, PREFIX_MEMO_ENTRIES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_is_found_again),
		TEST(test_with_any_bytes_behind),
		TEST(test_is_not_found_where_it_is_cut),
		TEST(test_of_one_byte),
		TEST(test_too_long),
		TEST(test_slots_are_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
