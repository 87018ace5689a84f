// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions a window counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bursts/counting.h"

#define CNT 50

static uint32_t list[COUNTING_WIDE];

/* `share`: of the target's own time that counting takes. */
static struct member member_of(double share, double by_io, uint64_t counted)
{
	return (struct member){
		.count_ns = 1000, .per_ns = share / 1000, .by_io = by_io, .counted = counted};
}

static struct counting reads_so_often(double io_per_ns)
{
	return (struct counting){.cost_ns = 3e6, .io_per_ns = io_per_ns};
}

/* Functions that go by CPU time: a window has those that were counted least, as many as take a
 * tenth of the time. */
static void by_time(void **state)
{
	const struct counting how = reads_so_often(0);
	struct member members[CNT];

	for (uint32_t i = 0; i < CNT; i++)
		members[i] = member_of(0.03, 0, i < 10);
	members[11].exact = true;
	assert_int_equal(counting__choose(members, CNT, &how, list), 3);
	assert_int_equal(list[0], 10);
	assert_int_equal(list[1], 12);
	assert_int_equal(list[2], 13);
	/* A single one may take more, but what takes twice the time comes last. */
	members[10].per_ns *= 100;
	members[12].per_ns *= 10;
	assert_int_equal(counting__choose(members, CNT, &how, list), 1);
	assert_int_equal(list[0], 12);
}

/* Functions that jump back to their entries, which are hits as well, are counted only if all do. */
static void loops(void **state)
{
	struct counting how = reads_so_often(0);
	struct member members[3] = {member_of(0.01, 0, 0), member_of(0.01, 0, 5),
				    member_of(0.01, 0, 0)};

	members[0].loops = members[2].loops = true;
	assert_int_equal(counting__choose(members, 3, &how, list), 1);
	assert_int_equal(list[0], 1);
	members[2].counted = 3;
	how.again = true;
	assert_int_equal(counting__choose(members, 3, &how, list), 1);
	assert_int_equal(list[0], 1);
	how.again = false;
	members[1].exact = true;
	assert_int_equal(counting__choose(members, 3, &how, list), 2);
	assert_int_equal(list[0], 0);
}

/* The window has as many functions as leave room for some reads: 100 of them, in 3 ms of counting.
 */
static void by_reads(void **state)
{
	struct counting how = reads_so_often(50e-6);
	struct member members[CNT];

	for (uint32_t i = 0; i < CNT; i++)
		members[i] = member_of(0.25, 0.7, 0);
	/* 150 reads in 3 ms of its own: counting may take one and a half times as long. */
	assert_int_equal(counting__choose(members, CNT, &how, list), 6);
	/* A target that hardly reads has its functions counted as if they went by time. */
	how.io_per_ns = 1e-9;
	assert_int_equal(counting__choose(members, CNT, &how, list), 1);
	/* The number of functions has a limit. */
	how.io_per_ns = 1;
	assert_int_equal(counting__choose(members, CNT, &how, list), 20);
	for (uint32_t i = 0; i < CNT; i++)
		members[i].per_ns = 0;
	assert_int_equal(counting__choose(members, CNT, &how, list), COUNTING_MOST);
}

/* One function is counted again, any of those that were counted least often: alone if it takes all
 * the time, else beside others. */
static void again(void **state)
{
	struct counting how = reads_so_often(20e-6);
	struct member members[CNT];
	uint32_t seen[CNT] = {0};

	how.again = true;
	for (uint32_t i = 0; i < CNT; i++)
		members[i] = member_of(0.05, 0, i < 20 ? 0 : i < 30 ? 1 : 2);
	for (int i = 0; i < 100; i++) {
		how.random = i / 100.0;
		assert_int_equal(counting__choose(members, CNT, &how, list), 1);
		seen[list[0]]++;
	}
	for (uint32_t i = 0; i < CNT; i++)
		assert_int_equal(seen[i], i >= 20 && i < 30 ? 10 : 0);
	for (uint32_t i = 0; i < CNT; i++)
		members[i].by_io = 1;
	assert_in_range(counting__choose(members, CNT, &how, list), 2, COUNTING_MOST);
	assert_in_range(list[0], 20, 29);
	assert_int_equal(list[1], 0);
	/* If no function was counted yet the choice is as without `again`. */
	for (uint32_t i = 0; i < CNT; i++)
		members[i].counted = 0;
	assert_in_range(counting__choose(members, CNT, &how, list), 2, COUNTING_MOST);
	assert_int_equal(list[0], 0);
}

/* A wide window has four functions that windows know, and those that none knows which wide windows
 * have counted least. */
static void wide(void **state)
{
	struct member members[2 * CNT];
	int cnt;

	for (uint32_t i = 0; i < 2 * CNT; i++)
		members[i] = member_of(0.2, 0, i < 8);
	members[0].exact = members[20].exact = true;
	members[1].per_ns *= 100; /* too dear to be of use, */
	members[2].per_ns /= 100; /* too rare, */
	members[3].loops = members[21].loops = true;
	cnt = counting__choose_wide(members, 2 * CNT, 0.5, list);
	assert_int_equal(cnt, COUNTING_WIDE);
	for (int i = 0; i < 4; i++)
		assert_int_equal(list[i], 4 + i);
	for (int i = 4; i < cnt; i++) {
		assert_int_equal(list[i], i < 16 ? 4 + i : 6 + i);
		members[list[i]].counted_wide++;
	}
	cnt = counting__choose_wide(members, 2 * CNT, 0, list);
	assert_int_equal(list[4], COUNTING_WIDE + 6);
	/* Windows know too few, or leave too few. */
	assert_int_equal(counting__choose_wide(members, 2 * CNT, 0, list), cnt);
	members[4].counted = 0;
	assert_int_equal(counting__choose_wide(members, 2 * CNT, 0, list), 0);
	for (uint32_t i = 0; i < 2 * CNT; i++)
		members[i].counted = i < 70;
	assert_int_equal(counting__choose_wide(members, 2 * CNT, 0, list), 0);
	assert_int_equal(counting__choose_wide(NULL, 0, 0, list), 0);
}

static void none(void **state)
{
	const struct counting how = {.again = true};
	struct member gone = member_of(0.05, 0, 1);

	gone.exact = true;
	assert_int_equal(counting__choose(NULL, 0, &how, list), 0);
	assert_int_equal(counting__choose(&gone, 1, &how, list), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time), cmocka_unit_test(loops), cmocka_unit_test(by_reads),
		cmocka_unit_test(again),   cmocka_unit_test(wide),  cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
