// SPDX-License-Identifier: GPL-2.0-or-later
/* `ret`s and entries are left to the kernel if another probe of ours is there as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exits/emulation.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"

static void shared_instructions(void **state)
{
	struct plan_function functions[] = {
		{.offset = 0x100, .entry.site = SITE_STEP, .exits = 0, .exits_cnt = 6},
		/* begins at an exit of the first one, and is probed there */
		{.offset = 0x140, .entry.site = SITE_STEP, .exits = 6, .exits_cnt = 1},
		/* the same of another object */
		{.object = 1, .offset = 0x150, .entry.site = SITE_STEP},
		/* its probe is on what the kernel emulates */
		{.offset = 0x160, .entry.site = SITE_PUSH},
		{.kind = PLAN_REGION, .sites = 0, .begins_cnt = 1, .ends_cnt = 1},
	};
	struct plan_exit exits[] = {
		{.offset = 0x120, .emulated = true},
		{.offset = 0x140, .emulated = true},
		{.offset = 0x150, .emulated = true},
		{.offset = 0x170, .emulated = true},
		{.offset = 0x180, .emulated = true},
		{.offset = 0x190, .emulated = true},
		{.offset = 0x1a0},
	};
	struct plan_site sites[] = {{.offset = 0x165, .site = SITE_NOP},
				    {.offset = 0x170, .site = SITE_STEP}};
	struct plan_line_site line_sites[] = {{.function = 0, .offset = 0x180, .site = SITE_STEP},
					      {.function = 2, .offset = 0x190, .site = SITE_STEP}};
	struct plan_lines lines = {.sites = line_sites, .sites_cnt = 2};
	struct plan plan = {.functions = functions,
			    .functions_cnt = 5,
			    .exits = exits,
			    .exits_cnt = 7,
			    .sites = sites,
			    .sites_cnt = 2,
			    .lines = &lines};
	static const bool expected[] = {true, false, true, false, false, true, false};

	assert_int_equal(emulation__spare_shared(&plan), 0);
	for (size_t i = 0; i < plan.exits_cnt; i++)
		assert_int_equal(exits[i].emulated, expected[i]);
}

/* Entries are probes themselves: one alone is emulated, two at a place are not. */
static void shared_entries(void **state)
{
	struct plan_function functions[] = {
		{.offset = 0x100, .entry = {.site = SITE_EMUL, .emulation.length = 4}},
		/* one begins in the other, before its site */
		{.offset = 0x200, .entry = {.offset = 8, .site = SITE_EMUL, .emulation.length = 4}},
		{.offset = 0x208, .entry = {.site = SITE_EMUL, .emulation.length = 4}},
		/* where a hook is, a line, and a region begins */
		{.offset = 0x300, .entry = {.site = SITE_EMUL, .emulation.length = 4}},
		{.offset = 0x400, .entry = {.site = SITE_EMUL, .emulation.length = 4}},
		{.offset = 0x500, .entry = {.site = SITE_EMUL, .emulation.length = 4}},
		{.kind = PLAN_REGION, .sites = 0, .begins_cnt = 1},
		/* another object's */
		{.object = 1, .offset = 0x300, .entry = {.site = SITE_EMUL, .emulation.length = 4}},
	};
	struct plan_hook hooks[] = {{.offset = 0x300}};
	struct plan_site sites[] = {{.offset = 0x500, .site = SITE_STEP}};
	struct plan_line_site line_sites[] = {{.function = 4, .offset = 0x400, .site = SITE_STEP}};
	struct plan_lines lines = {.sites = line_sites, .sites_cnt = 1};
	struct plan plan = {.functions = functions,
			    .functions_cnt = 8,
			    .sites = sites,
			    .sites_cnt = 1,
			    .hooks = hooks,
			    .hooks_cnt = 1,
			    .lines = &lines};
	static const bool expected[] = {true, false, false, false, false, false, false, true};

	assert_int_equal(emulation__spare_shared(&plan), 0);
	for (size_t i = 0; i < plan.functions_cnt; i++) {
		const struct code_site *entry = &functions[i].entry;

		assert_int_equal(entry->site == SITE_EMUL, expected[i]);
		assert_int_equal(entry->emulation.length, expected[i] ? 4 : 0);
	}
	assert_int_equal(functions[1].entry.site, SITE_STEP);
}

static void nothing_to_spare(void **state)
{
	struct plan plan = {0};

	assert_int_equal(emulation__spare_shared(&plan), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_instructions),
		cmocka_unit_test(shared_entries),
		cmocka_unit_test(nothing_to_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
