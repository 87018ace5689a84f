// SPDX-License-Identifier: GPL-2.0-or-later
/* How a leave is seen: every context with every kind of code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "code/code.h"
#include "exits/exits.h"

static const char why[] = "what the context says";
static const char leaf_why[] = "calls nothing: cannot be unwound through";
static const char inspects_why[] = "looks at its return address";
static const char bad_why[] = "has bytes that are no instruction";
static const char no_exits_why[] = "never leaves by a return or a jump";
static const char patched_why[] = "patched in memory: may change its return address";

static const struct code plain = {0};
static const struct code leaf = {.leaf = true};
static const struct code missing = {.exits_missing = true};
static const struct code bad = {.bad = bad_why};
static const struct code endless = {.no_exits = no_exits_why};
static const struct code endless_leaf = {.leaf = true, .no_exits = no_exits_why};
static const struct code patched = {.patched = true};
static const struct code bad_endless = {.bad = bad_why, .no_exits = no_exits_why};

static const struct {
	unsigned traits;
	const struct code *code;
	enum deny_verdict deny;
	enum exit_strategy strategy;
	const char *reason;
} table[] = {
	/* nothing unwinds: return probes, even where the code is not understood */
	{0, &plain, DENY_NOTHING, EXIT_RETURN, why},
	{0, &leaf, DENY_NOTHING, EXIT_RETURN, why},
	{0, &bad, DENY_NOTHING, EXIT_RETURN, why},
	{0, &endless, DENY_NOTHING, EXIT_RETURN, why},
	{TRAIT_LIBC, &plain, DENY_NOTHING, EXIT_RETURN, why},
	/* something does: only where the function itself cannot be unwound through */
	{TRAIT_UNWINDS, &plain, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_SWITCHES, &plain, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_INSPECTS, &plain, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_SHOWS, &plain, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_UNWINDS | TRAIT_LIBC, &plain, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_UNWINDS, &leaf, DENY_NOTHING, EXIT_RETURN, leaf_why},
	{TRAIT_SWITCHES, &leaf, DENY_NOTHING, EXIT_RETURN, leaf_why},
	{TRAIT_INSPECTS, &leaf, DENY_NOTHING, EXIT_RETURN, leaf_why},
	{TRAIT_UNWINDS, &endless_leaf, DENY_NOTHING, EXIT_RETURN, leaf_why},
	{TRAIT_UNWINDS, &bad, DENY_NOTHING, EXIT_NONE, bad_why},
	{TRAIT_UNWINDS, &endless, DENY_NOTHING, EXIT_NONE, no_exits_why},
	{TRAIT_UNWINDS, &bad_endless, DENY_NOTHING, EXIT_NONE, bad_why},
	{TRAIT_UNWINDS, &missing, DENY_NOTHING, EXIT_SITES,
	 "some exits may lie behind a jump table that cannot be read"},
	/* Go's scheduler interrupts leaves, too */
	{TRAIT_GO, &plain, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_GO, &leaf, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_GO | TRAIT_UNWINDS, &leaf, DENY_NOTHING, EXIT_SITES, why},
	{TRAIT_GO, &endless_leaf, DENY_NOTHING, EXIT_NONE, no_exits_why},
	/* functions that look at their return address, whatever the context */
	{0, &plain, DENY_RETURN, EXIT_SITES, inspects_why},
	{0, &leaf, DENY_RETURN, EXIT_SITES, inspects_why},
	{TRAIT_UNWINDS, &leaf, DENY_RETURN, EXIT_SITES, inspects_why},
	{TRAIT_GO, &leaf, DENY_RETURN, EXIT_SITES, inspects_why},
	{0, &bad, DENY_RETURN, EXIT_NONE, bad_why},
	{0, &endless, DENY_RETURN, EXIT_NONE, no_exits_why},
	/* nobody knows what stands there */
	{0, &patched, DENY_NOTHING, EXIT_SITES, patched_why},
	{TRAIT_UNWINDS, &patched, DENY_RETURN, EXIT_SITES, patched_why},
};

static void choices(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct exit_context ctx = {.traits = table[i].traits, .reason = why};
		struct exit_choice choice = exits__choose(&ctx, table[i].code, table[i].deny);

		if (choice.strategy != table[i].strategy)
			fail_msg("row %zu: %s", i, exit_strategy__name(choice.strategy));
		assert_string_equal(choice.reason, table[i].reason);
	}
}

static const char hazard_why[] = "what this kernel does";

/* On a kernel whose return probes kill, proofs about the program prove nothing. */
static void hazards(void **state)
{
	const struct exit_context quiet = {.reason = why, .hazard = hazard_why};
	const struct exit_context throws = {
		.traits = TRAIT_UNWINDS, .reason = why, .hazard = hazard_why};
	struct exit_choice choice = exits__choose(&quiet, &plain, DENY_NOTHING);

	assert_int_equal(choice.strategy, EXIT_SITES);
	assert_string_equal(choice.reason, hazard_why);
	assert_int_equal(exits__choose(&throws, &leaf, DENY_NOTHING).strategy, EXIT_SITES);
	assert_int_equal(exits__choose(&quiet, &endless, DENY_NOTHING).strategy, EXIT_NONE);
	assert_true(exits__return_unsafe(&quiet));
	assert_true(exits__return_unsafe(&throws));
}

/* Where the kernel itself may crash nobody gets a return probe, whoever asks for it. */
static void crashes(void **state)
{
	static const char crash_why[] = "two on one call";
	struct exit_context ctx = {.reason = why, .crash = crash_why};
	struct exit_choice choice = exits__choose(&ctx, &plain, DENY_NOTHING);

	assert_int_equal(choice.strategy, EXIT_SITES);
	assert_string_equal(choice.reason, crash_why);
	assert_int_equal(exits__choose(&ctx, &leaf, DENY_NOTHING).strategy, EXIT_SITES);
	ctx.forced = true;
	ctx.strategy = EXIT_RETURN;
	choice = exits__choose(&ctx, &plain, DENY_NOTHING);
	assert_int_equal(choice.strategy, EXIT_SITES);
	assert_string_equal(choice.reason, crash_why);
	ctx.strategy = EXIT_NONE;
	choice = exits__choose(&ctx, &plain, DENY_NOTHING);
	assert_int_equal(choice.strategy, EXIT_NONE);
	assert_string_equal(choice.reason, "--exits=none");
}

static const struct {
	enum exit_strategy forced;
	const struct code *code;
	enum deny_verdict deny;
	enum exit_strategy strategy;
	const char *reason;
} forced_table[] = {
	{EXIT_RETURN, &plain, DENY_NOTHING, EXIT_RETURN, "--exits=return"},
	{EXIT_RETURN, &bad, DENY_NOTHING, EXIT_RETURN, "--exits=return"},
	{EXIT_RETURN, &leaf, DENY_RETURN, EXIT_SITES,
	 "not --exits=return: looks at its return address"},
	{EXIT_RETURN, &endless, DENY_RETURN, EXIT_NONE, no_exits_why},
	{EXIT_SITES, &plain, DENY_NOTHING, EXIT_SITES, "--exits=sites"},
	{EXIT_SITES, &leaf, DENY_RETURN, EXIT_SITES, "--exits=sites"},
	{EXIT_SITES, &bad, DENY_NOTHING, EXIT_NONE, bad_why},
	{EXIT_SITES, &endless, DENY_NOTHING, EXIT_NONE, no_exits_why},
	{EXIT_NONE, &plain, DENY_NOTHING, EXIT_NONE, "--exits=none"},
	{EXIT_NONE, &bad, DENY_RETURN, EXIT_NONE, "--exits=none"},
};

/* A forced strategy goes before the context's. */
static void forced(void **state)
{
	static const unsigned traits[] = {0, TRAIT_UNWINDS, TRAIT_GO};

	for (size_t i = 0; i < sizeof(forced_table) / sizeof(*forced_table) * 3; i++) {
		struct exit_context ctx = {.traits = traits[i % 3],
					   .reason = why,
					   .hazard = i % 2 ? hazard_why : NULL};
		struct exit_choice choice;

		ctx.forced = true;
		ctx.strategy = forced_table[i / 3].forced;
		choice = exits__choose(&ctx, forced_table[i / 3].code, forced_table[i / 3].deny);
		if (choice.strategy != forced_table[i / 3].strategy)
			fail_msg("row %zu: %s", i / 3, exit_strategy__name(choice.strategy));
		assert_string_equal(choice.reason, forced_table[i / 3].reason);
	}
}

/* Whatever the context, but not where another strategy is forced. */
static void leaves_that_return(void **state)
{
	static const struct code returns = {.leaf = true, .insns = 7, .exits_cnt = 1};
	const struct exit_context contexts[] = {
		{.reason = why},
		{.traits = TRAIT_UNWINDS | TRAIT_SIGNALS | TRAIT_GO, .reason = why},
		{.reason = why, .hazard = hazard_why},
		{.reason = why, .no_returns = true},
	};
	const struct exit_context sites = {.reason = why, .forced = true, .strategy = EXIT_SITES};
	struct exit_choice choice;

	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		assert_int_equal(exits__close_at_entry(&contexts[i], &returns, &choice), 7);
		assert_int_equal(choice.strategy, EXIT_NONE);
		assert_non_null(strstr(choice.reason, "a leaf without loops"));
		assert_int_equal(exits__close_at_entry(&contexts[i], &plain, &choice), 0);
	}
	assert_int_equal(exits__close_at_entry(&sites, &returns, &choice), 0);
}

static void names(void **state)
{
	assert_string_equal(exit_strategy__name(EXIT_RETURN), "return");
	assert_string_equal(exit_strategy__name(EXIT_SITES), "sites");
	assert_string_equal(exit_strategy__name(EXIT_NONE), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices), cmocka_unit_test(hazards),
		cmocka_unit_test(forced),  cmocka_unit_test(leaves_that_return),
		cmocka_unit_test(crashes), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
