// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "fixture.h"

static const struct sink_options plain;

static void test_functions(void **state)
{
	struct profile *p = fixture_small();

	fixture_expect(&sink_flat, p, &plain,
		       "    CALLS    TOTAL     SELF      AVG      MIN      MAX   SELF%  "
		       "FUNCTION                                  MODULE\n"
		       "        3   700 us   694 us   233 us   233 us   233 us   69.4%  "
		       "work                                      prog\n"
		       "        1   200 us   200 us   200 us   200 us   200 us   20.0%  "
		       "idle                                      prog\n"
		       "        1  1.00 ms   100 us  1.00 ms  1.00 ms  1.00 ms   10.0%  "
		       "main                                      prog\n"
		       "    1,234  6.00 us  6.00 us     4 ns     4 ns     4 ns    0.6%  "
		       "leaf                                      prog\n"
		       "\n"
		       "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0\n"
		       "10.0 s, 4 of 5 probed functions called\n");
	profile__free(p);
}

static struct profile *make_recursive(void)
{
	struct profile *p = fixture_new();
	uint32_t n;

	fixture_function(p, "a_name_that_is_much_longer_than_the_columns_it_can_get(int)");
	fixture_function(p, "open\033[2J");
	fixture_thread(p, 1, 1, "x");
	n = fixture_node(p, 0, 0, 0, 1, 100, 40);
	fixture_node(p, 0, n, 0, 1, 60, 60);
	fixture_node(p, 0, 0, 1, 0, 7, 7);
	fixture_finish(p);
	return p;
}

/* AVG is that of both levels, (100 + 60) / 2; an open call has no AVG, MIN, MAX. */
static void test_recursion_and_open_calls(void **state)
{
	struct profile *p = make_recursive();

	fixture_expect(&sink_flat, p, &plain,
		       "    CALLS    TOTAL     SELF      AVG      MIN      MAX   SELF%  "
		       "FUNCTION                                  MODULE\n"
		       "        2   100 ns   100 ns    80 ns    60 ns   100 ns   93.5%  "
		       "a_name_that_is_much_…mns_it_can_get(int)  prog\n"
		       "        0     7 ns     7 ns        -        -        -    6.5%  "
		       "open\\x1b[2J                               prog\n"
		       "\n"
		       "entered 2 = returned 2 + unwound 0 + open 0; lost 0\n"
		       "0 ns, 2 of 2 probed functions called\n");
	profile__free(p);
}

static void test_interval(void **state)
{
	struct sink_options opts = {.interval = true, .verbose = true};
	struct profile *p = make_recursive();

	p->start_time = 1700000000.75; /* 22:13:20 UTC */
	p->duration_ns = 1000000000;
	p->accounting.open = -1;
	p->accounting.unwound = 1;
	p->accounting.lost = 1;
	fixture_expect(&sink_flat, p, &opts,
		       "── 22:13:20 + 1.00 s ──\n"
		       "    CALLS    TOTAL     SELF      AVG      MIN      MAX   SELF%  "
		       "FUNCTION                                  MODULE\n"
		       "        2   100 ns   100 ns    80 ns    60 ns   100 ns   93.5%  "
		       "a_name_that_is_much_longer_than_the_columns_it_can_get(int)  prog\n"
		       "        0     7 ns     7 ns        -        -        -    6.5%  "
		       "open\\x1b[2J                               prog\n"
		       "\n"
		       "entered 2 = returned 2 + unwound 1 - open 1; lost 1\n"
		       "1.00 s, 2 of 2 probed functions called\n"
		       "warning: 1 call was not recorded because a table was full: counts and "
		       "times are too low\n"
		       "\n");
	profile__free(p);
}

static void test_empty_interval(void **state)
{
	struct sink_options opts = {.interval = true};
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	p->duration_ns = 2000000000;
	fixture_expect(&sink_flat, p, &opts,
		       "── 00:00:00 + 2.00 s ──\n"
		       "no calls were seen in 2.00 s: 1 function was probed\n"
		       "\n");
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_recursion_and_open_calls),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_empty_interval),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
