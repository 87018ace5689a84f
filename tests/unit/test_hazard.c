// SPDX-License-Identifier: GPL-2.0-or-later
/* Return probes of some kernels kill some processes: which ones, tested without any of those
 * kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "target/hazard.h"

static const char plain[] =
	"Name:\tx\nSeccomp:\t0\nx86_Thread_features:\t\nx86_Thread_features_locked:\t\n";
static const char filtered[] = "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n";
static const char shadow[] = "Name:\tx\nx86_Thread_features:\tshstk wrss \n";
/* Locked is not enabled, and names are their owners' to choose. */
static const char locked[] =
	"Name:\tx86_Thread_features: "
	"shstk\nx86_Thread_features:\t\nx86_Thread_features_locked:\tshstk wrss \n";
static const char last_word[] = "x86_Thread_features:\tshstk";
static const char other_word[] = "x86_Thread_features:\tnoshstk shstk2 wrss\n";
static const char old_cpu[] = "processor\t: 0\nflags\t\t: fpu vme shstk ibt\nbugs\t\t: x\n";
static const char new_cpu[] = "processor\t: 0\nflags\t\t: fpu user_shstk avx\nbugs\t\t: x\n";

static const char *of(const char *release, const char *status, const char *cpuinfo)
{
	const struct hazard_view view = {release, status, cpuinfo};

	return hazard__of(&view);
}

static void seccomp_filters(void **state)
{
	static const char *const bad[] = {
		"6.11",	  "6.11.0", "6.11.0-26-generic", "6.11.11", "6.12.0", "6.12.13-amd64",
		"6.13.0", "6.13.2", "6.13.0-rc7+",	 "6.13-rc1"};
	static const char *const good[] = {
		"5.15.0-105-generic",  "6.1.0-22-amd64", "6.10.14", "6.12.14",
		"6.12.63+deb13-amd64", "6.13.3",	 "6.14.0",  "6.18.44",
		"7.0.0-rc1",	       "16.12.1"};

	/* Without a filter too: one can be put on at any time. */
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *why = of(bad[i], i % 2 ? plain : filtered, old_cpu);

		if (!why || !strstr(why, "seccomp"))
			fail_msg("%s: %s", bad[i], why ? why : "no hazard");
		assert_non_null(of(bad[i], NULL, old_cpu));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (of(good[i], filtered, new_cpu))
			fail_msg("%s: %s", good[i], of(good[i], filtered, new_cpu));
	}
}

static void several_links(void **state)
{
	assert_false(hazard__lists_returns("6.1.0-22-amd64"));
	assert_false(hazard__lists_returns("6.13.12"));
	assert_true(hazard__lists_returns("6.14.0"));
	assert_true(hazard__lists_returns("6.18.44"));
	assert_true(hazard__lists_returns("7.2.13+deb14-amd64"));
}

static void skipped_programs(void **state)
{
	assert_false(hazard__skips_programs("5.10.0-34-amd64"));
	assert_false(hazard__skips_programs("6.18.44"));
	assert_true(hazard__skips_programs("7.0-rc1"));
	assert_true(hazard__skips_programs("7.2.13+deb14-amd64"));
	assert_true(hazard__skips_programs("of its own making"));
}

static void shadow_stacks(void **state)
{
	assert_non_null(strstr(of("6.8.0-31-generic", shadow, new_cpu), "shadow"));
	assert_non_null(of("6.10.14", last_word, new_cpu));
	assert_null(of("6.10.14", plain, new_cpu));
	assert_null(of("6.10.14", locked, new_cpu));
	assert_null(of("6.10.14", other_word, new_cpu));
	assert_null(of("6.10.14", "", new_cpu));
	assert_null(of("6.18.44", shadow, new_cpu));
	/* a process that is not there yet: whatever the machine can give it */
	assert_non_null(of("6.8.0", NULL, new_cpu));
	assert_null(of("6.8.0", NULL, old_cpu));
	assert_null(of("6.8.0", NULL, NULL));
	assert_null(of("6.18.44", NULL, new_cpu));
}

/* Calls are left alone there, whatever the kernel. */
static void calls_under_shadow_stacks(void **state)
{
	static const char *const releases[] = {"6.8.0", "6.18.44", "7.2.13", ""};

	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		struct hazard_view view = {releases[i], shadow, new_cpu};

		assert_true(hazard__shadow_stacks(&view));
		view.status = plain;
		assert_false(hazard__shadow_stacks(&view));
		view.status = other_word;
		assert_false(hazard__shadow_stacks(&view));
		view.status = NULL; /* a process that is not there yet */
		assert_true(hazard__shadow_stacks(&view));
		view.cpuinfo = old_cpu;
		assert_false(hazard__shadow_stacks(&view));
	}
}

static void strange_releases(void **state)
{
	static const char *const releases[] = {"", "6", "x", "six.eleven", "-1.-1", "\xff"};

	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++)
		assert_null(of(releases[i], filtered, new_cpu));
	assert_null(of(NULL, NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seccomp_filters),	     cmocka_unit_test(several_links),
		cmocka_unit_test(skipped_programs),	     cmocka_unit_test(shadow_stacks),
		cmocka_unit_test(calls_under_shadow_stacks), cmocka_unit_test(strange_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
