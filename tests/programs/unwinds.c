// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwinds [FRAMES [TIMES]]: walks its own stack by libunwind, from FRAMES frames deep. Prints how
 * many frames of its own it has seen on the way, and what it has counted.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdint.h>
#include "target.h"

static unsigned long walk_cnt, descend_cnt, frames_cnt;

/* Whether an address is in the program's code: none of a trampoline is. */
static int is_ours(uint64_t rip)
{
	extern const char __executable_start[], etext[];

	return rip >= (uintptr_t)__executable_start && rip < (uintptr_t)etext;
}

TRACED void walk(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t rip;

	walk_cnt++;
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &rip);
		frames_cnt += is_ours(rip);
	} while (unw_step(&cursor) > 0);
}

TRACED unsigned long descend(unsigned long levels)
{
	descend_cnt++;
	if (!levels) {
		walk();
		return 0;
	}
	return descend(levels - 1) + 1;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0;

	target_begin(&argc, &argv);
	const unsigned long frames = target_arg(argc, argv, 1, 10);
	const unsigned long times = target_arg(argc, argv, 2, 20);
	for (unsigned long i = 0; i < times; i++)
		sum += descend(frames);
	printf("sum %lu frames %lu\n", sum, frames_cnt);
	target_count("walk", walk_cnt);
	target_count("descend", descend_cnt);
	return 8;
}
