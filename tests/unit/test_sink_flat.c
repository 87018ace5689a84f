// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "fixture.h"
#include "views/prune.h"

static const struct sink_options plain;

static void test_functions(void **state)
{
	struct profile *p = fixture_small();

	fixture_expect(&sink_flat, p, &plain,
		       "    CALLS    TOTAL     SELF      CPU      AVG      P50      P90      P99   "
		       "   MAX   SELF%  "
		       "FUNCTION                                  MODULE\n"
		       "        3   700 us   694 us   700 us   233 us        -        -        -   "
		       "233 us   69.4%  "
		       "work                                      prog\n"
		       "        1   200 us   200 us   200 us   200 us        -        -        -   "
		       "200 us   20.0%  "
		       "idle                                      prog\n"
		       "        1  1.00 ms   100 us  1.00 ms  1.00 ms        -        -        -  "
		       "1.00 ms   10.0%  "
		       "main                                      prog\n"
		       "    1,234  6.00 us  6.00 us  6.00 us     4 ns        -        -        -   "
		       "  4 ns    0.6%  "
		       "leaf                                      prog\n"
		       "\n"
		       "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "10.0 s, 4 of 5 probed functions called\n");
	profile__free(p);
}

/* Of the 700 us in work(), 600 are waits. */
static void test_weights(void **state)
{
	struct sink_options cpu = {.weight = WEIGHT_CPU, .columns = 80};
	struct sink_options calls = {.weight = WEIGHT_CALLS, .columns = 80};
	struct profile *p = fixture_small();
	char *text;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		if (p->nodes[i].function == 1)
			p->nodes[i].stats.off_ns = p->nodes[i].stats.off_self_ns = 600000;
	fixture_finish(p);
	text = fixture_write(&sink_flat, p, &cpu);
	assert_ptr_equal(strstr(text, "  CALLS      CPU     SELF      AVG   SELF%  FUNCTION\n"
				      "      1   200 us   200 us   200 us   50.0%  idle\n"
				      "      1  1.00 ms   100 us  1.00 ms   25.0%  main\n"
				      "      3   100 us  94.0 us   233 us   23.5%  work\n"
				      "  1,234  6.00 us  6.00 us     4 ns    1.5%  leaf\n"),
			 text);
	assert_non_null(strstr(text, "not shown in 80 columns: P99, MAX, MODULE, TOTAL, P50"));
	free(text);
	text = fixture_write(&sink_flat, p, &calls);
	assert_ptr_equal(strstr(text, "  CALLS    TOTAL     SELF      AVG  CALLS%  FUNCTION\n"
				      "  1,234  6.00 us  6.00 us     4 ns   99.6%  leaf\n"
				      "      3   700 us   694 us   233 us    0.2%  work\n"
				      "      1   200 us   200 us   200 us    0.1%  idle\n"
				      "      1  1.00 ms   100 us  1.00 ms    0.1%  main\n"),
			 text);
	free(text);
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
		       "    CALLS    TOTAL     SELF      CPU      AVG      P50      P90      P99   "
		       "   MAX   SELF%  "
		       "FUNCTION                                  MODULE\n"
		       "        2   100 ns   100 ns   100 ns    80 ns        -        -        -   "
		       "100 ns   93.5%  "
		       "a_name_that_is_much_…mns_it_can_get(int)  prog\n"
		       "        0     7 ns     7 ns     7 ns        -        -        -        -   "
		       "     -    6.5%  "
		       "open\\x1b[2J                               prog\n"
		       "\n"
		       "entered 2 = returned 2 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 1 of 2 probed functions called\n");
	profile__free(p);
}

static void test_interval(void **state)
{
	struct sink_options opts = {.interval = true, .verbose = true};
	struct profile *p = make_recursive();

	p->start_time = 1700000000.75; /* 22:13:20 UTC */
	p->functions[1].file = "/src/o\npen.c";
	p->functions[1].line = 42;
	p->duration_ns = 1000000000;
	p->accounting.open = -1;
	p->accounting.unwound = 1;
	p->accounting.lost = 1;
	fixture_expect(&sink_flat, p, &opts,
		       "── 22:13:20 + 1.00 s ──\n"
		       "    CALLS    TOTAL      +/-     SELF      +/-      CPU      AVG      MIN"
		       "      P50      P90      P99      MAX   SELF%  "
		       "FUNCTION                                  MODULE\n"
		       "        2   100 ns     0 ns   100 ns     0 ns   100 ns    80 ns    60 ns"
		       "        -        -        -   100 ns   93.5%  "
		       "a_name_that_is_much_longer_than_the_columns_it_can_get(int)  prog\n"
		       "        0     7 ns     0 ns     7 ns     0 ns     7 ns        -        -"
		       "        -        -        -        -    6.5%  "
		       "open\\x1b[2J                               prog  /src/o\\x0apen.c:42\n"
		       "\n"
		       "entered 2 = returned 2 + unwound 1 - open 1; lost 1, dropped 0\n"
		       "1.00 s, 1 of 2 probed functions called\n"
		       "warning: 1 call was not recorded because a table was full: counts and "
		       "times are too low\n"
		       "\n");
	profile__free(p);
}

static void expect_copy(const struct profile *p, const struct sink_options *opts, const char *part)
{
	char *text = fixture_write(&sink_flat, p, opts);

	if (!strstr(text, part))
		fail_msg("no %s\nin %s", part, text);
	free(text);
}

/* AVG is of what P50 and MAX are of: finished calls. One of two is open for 100 s. */
static void test_one_basis(void **state)
{
	struct profile *p = fixture_new();
	struct call_stats *s;

	fixture_function(p, "loop");
	fixture_function(p, "bare");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 2, 100000001000, 100000001000);
	fixture_node(p, 0, 0, 1, 2, 50000001000, 50000001000);
	s = &p->nodes[1].stats;
	s->min_ns = s->max_ns = 1000;
	p->nodes[2].stats.min_ns = p->nodes[2].stats.max_ns = 1000;
	fixture_bucket(p, 0, 63, 1); /* [960, 1024) */
	fixture_finish(p);
	expect_copy(p, &plain,
		    "        2    100 s    100 s    100 s  1.00 us  1.00 us  1.00 us  1.00 us  "
		    "1.00 us   66.7%  loop");
	/* Without a distribution it is not known. */
	expect_copy(p, &plain,
		    "        2   50.0 s   50.0 s   50.0 s        -        -        -        -  "
		    "1.00 us   33.3%  bare");
	profile__free(p);
}

/* One of 1,001 calls was left without a return, so sum and buckets are of different calls; but all
 * calls cannot have taken less than 1,000 of them. Their probes took more than was calibrated. */
static void test_less_than_its_calls(void **state)
{
	struct sink_options verbose = {.raw = true};
	struct profile *p = fixture_new();
	struct call_stats *s;

	fixture_function(p, "short");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 1001, 600000, 600000);
	s = &p->nodes[1].stats;
	s->raw_total_ns = 4000000;
	s->error_ns = s->self_error_ns = 1000000;
	s->min_ns = 1920;
	s->max_ns = 2047;
	fixture_bucket(p, 0, 71, 1000); /* [1920, 2048) */
	fixture_finish(p);
	expect_copy(p, &plain,
		    "    1,001    <1 ms    <1 ms    <1 ms    <1 us    <1 us    <1 us    <1 us    "
		    "<1 us  100.0%  short");
	expect_copy(p, &verbose, "   600 ns ");
	profile__free(p);
}

/* 1,000 calls are uncertain by 20 us: one of them by 20 ns. */
static void test_resolution(void **state)
{
	struct sink_options raw = {.raw = true};
	struct profile *p = fixture_new();
	struct call_stats *s;

	fixture_function(p, "tiny");
	fixture_function(p, "sure");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 1000, 14000, 14000);
	fixture_node(p, 0, 0, 1, 1, 90000000, 90000000);
	s = &p->nodes[1].stats;
	s->error_ns = s->self_error_ns = 20000;
	s->min_ns = 2;
	s->max_ns = 60;
	p->nodes[2].stats.off_ns = p->nodes[2].stats.off_self_ns = 80000000;
	fixture_bucket(p, 0, 2, 500);
	fixture_bucket(p, 0, 24, 450); /* [32, 36) */
	fixture_bucket(p, 0, 31, 50);  /* [60, 64) */
	fixture_finish(p);
	expect_copy(p, &plain,
		    "        1  90.0 ms  90.0 ms  10.0 ms  90.0 ms        -        -        -  "
		    "90.0 ms  100.0%  sure");
	expect_copy(p, &plain,
		    "    1,000   <20 us   <20 us   <20 us   <20 ns   <20 ns    35 ns    60 ns    "
		    "60 ns   <0.1%  tiny");
	expect_copy(p, &raw,
		    "    1,000  14.0 us  14.0 us  14.0 us    14 ns     3 ns    35 ns    60 ns    "
		    "60 ns   <0.1%  tiny");
	profile__free(p);
}

static void test_hidden_functions(void **state)
{
	struct profile *p = fixture_small();
	char *text;

	assert_int_equal(profile__prune(p, 200000), 0);
	/* Figures stay as they are without --min-time. */
	expect_copy(p, &plain, "69.4%  work");
	expect_copy(p, &plain, "10.0%  main");
	expect_copy(p, &plain, "4 of 5 probed functions called");
	text = fixture_write(&sink_flat, p, &plain);
	assert_null(strstr(text, "leaf"));
	free(text);
	profile__free(p);
}

static void test_cost(void **state)
{
	static struct profile_drop drops[] = {
		{.function = 0},
		{.function = 1, .at_ns = 1000000, .back_ns = 2000000},
		{.function = 1, .at_ns = 3000000},
	};
	struct sink_options raw = {.raw = true};
	struct profile *p = fixture_small();

	p->accounting.probe_ns = 50000000;
	expect_copy(p, &plain,
		    "dropped 0\nprobes cost 50.0 ms CPU time, taken out; no budget\n10.0 s,");
	p->accounting.cpu_ns = 1050000000;
	p->accounting.dropped = 1234;
	p->max_overhead = 2.5;
	expect_copy(p, &plain, "(5.0%), taken out; budget 2.5% or 1% of a CPU\n");
	p->duration_ns = 5000000000;
	expect_copy(p, &plain,
		    "lost 0, dropped 1,234\n"
		    "probes cost 50.0 ms on top of the target's 1.00 s CPU time (5.0%), taken "
		    "out; budget 2.5%\n");
	expect_copy(p, &raw, "(5.0%), left in; budget 2.5%\n");
	/* One function was dropped by the survey, one afterwards, twice. */
	p->drops = drops;
	p->drops_cnt = 3;
	expect_copy(p, &plain,
		    "taken out; budget 2.5%; more, as 1 function was traced until found to be "
		    "hot\n");
	p->drops_cnt = 1;
	expect_copy(p, &plain, "taken out; budget 2.5%\n");
	p->drops_cnt = 3;
	p->max_overhead = 4;
	expect_copy(p, &plain, "taken out; budget 4.0%\n");
	p->max_overhead = 2.5;
	p->drops = NULL;
	p->drops_cnt = 0;
	p->accounting.undistributed = 1;
	expect_copy(p, &raw,
		    "called\nwarning: 1 call is not in the distributions because a table was "
		    "full\n");
	profile__free(p);
}

static void test_drops(void **state)
{
	struct sink_options verbose = {.verbose = true};
	struct profile *p = fixture_small();

	fixture_drop(p, (struct profile_drop){1, 520000000, 1234567.8, 12.34, 0, "dear, tiny"});
	fixture_drop(p, (struct profile_drop){4, 1520000000, 99, 1500, 100, "dear"});
#define DROPS                                                                 \
	"10.0 s, 4 of 5 probed functions called\n"                            \
	"*: dropped to keep to the budget: calls and times are those until "  \
	"then; what followed is its callers'\n"                               \
	"2 functions were dropped to keep to the budget; exact until then:\n" \
	"     AFTER       CALLS/S     COST  KEPT        FUNCTION\n"
	expect_copy(p, &plain,
		    DROPS "    1.52 s            99    1500%  1 in 100    never\n"
			  "    520 ms     1,234,567    12.3%  none        work\n");
	expect_copy(p, &verbose,
		    DROPS "    1.52 s            99    1500%  1 in 100    never  dear\n"
			  "    520 ms     1,234,567    12.3%  none        work  dear, tiny\n");
	for (uint32_t i = 0; i < 11; i++)
		fixture_drop(p, (struct profile_drop){0, 2000000000, 1, 0.001, 0, "more"});
	expect_copy(p, &plain, "13 functions were dropped");
	expect_copy(p, &plain,
		    "    2.00 s             1    <0.1%  none        main\n"
		    "  … and 3 more (-f json lists them)\n");
	profile__free(p);
}

/* On a terminal, with the columns that there is room for, and without a table behind the answer. */
static void test_narrow(void **state)
{
	struct sink_options narrow = {.columns = 80}, wider = {.columns = 105};
	struct profile *p = fixture_small();

	p->functions[1].name = "a_name_of_39_columns_and_for_the_column";
	for (uint32_t i = 0; i < 7; i++)
		fixture_drop(p, (struct profile_drop){1, 2000000000, 1, 1, 0, "more"});
	expect_copy(p, &narrow,
		    "  CALLS    TOTAL     SELF      AVG   SELF%  FUNCTION\n"
		    "      3   700 us   694 us   233 us   69.4%  "
		    "a_name_of_39_colu…nd_for_the_column*\n");
	expect_copy(p, &narrow,
		    "\nnot shown in 80 columns: P99, MAX, MODULE, CPU, P50, P90 (-v shows all)\n");
	expect_copy(p, &narrow,
		    "7 functions were dropped to keep to the budget: "
		    "a_name_of_39_co…for_the_column (after 2.00 s), "
		    "a_name_of_39_co…for_the_column (after 2.00 s), "
		    "a_name_of_39_co…for_the_column (after 2.00 s), "
		    "a_name_of_39_co…for_the_column (after 2.00 s), "
		    "a_name_of_39_co…for_the_column (after 2.00 s), … (-v lists them)\n");
	expect_copy(p, &wider,
		    "    CALLS    TOTAL     SELF      AVG      P99      MAX   SELF%  FUNCTION\n");
	expect_copy(p, &wider, "a_name_of_39_columns_and_for_the_column*\n");
	profile__free(p);
}

/* No call was recorded, but not because nothing was called. */
static void test_all_dropped(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	p->accounting.dropped = 5;
	fixture_drop(p, (struct profile_drop){0, 7, 8, 9, 0, ""});
	fixture_expect(&sink_flat, p, &plain,
		       "entered 0 = returned 0 + unwound 0 + open 0; lost 0, dropped 5\n"
		       "0 ns, 0 of 1 probed functions called\n"
		       "1 function was dropped to keep to the budget; exact until then:\n"
		       "     AFTER       CALLS/S     COST  KEPT        FUNCTION\n"
		       "      7 ns             8     9.0%  none        f\n");
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
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_recursion_and_open_calls),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_one_basis),
		cmocka_unit_test(test_less_than_its_calls),
		cmocka_unit_test(test_hidden_functions),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_all_dropped),
		cmocka_unit_test(test_empty_interval),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
