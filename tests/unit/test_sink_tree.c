// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"
#include "views/prune.h"

static const struct sink_options plain;

#define COLUMNS	    "    CALLS    TOTAL     SELF      CPU   SHARE  FUNCTION\n"
#define CPU_COLUMNS "    CALLS    TOTAL     SELF      CPU    CPU%  FUNCTION\n"

static void test_small(void **state)
{
	struct profile *p = fixture_small();

	fixture_expect(&sink_tree, p, &plain,
		       "prog  pid 100  tid 101\n" COLUMNS
		       "        1  1.00 ms   100 us  1.00 ms  100.0%  main\n"
		       "        3   700 us   694 us   700 us   70.0%  ├─work\n"
		       "    1,234  6.00 us  6.00 us  6.00 us    0.6%  │ └─leaf\n"
		       "        1   200 us   200 us   200 us   20.0%  └─idle\n"
		       "\n"
		       "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "10.0 s, 4 of 5 probed functions called\n");
	profile__free(p);
}

static void test_color(void **state)
{
	static const struct profile_skip skipped[1];
	struct sink_options opts = {.color = true};
	struct profile *p = fixture_new();
	uint32_t n;

	fixture_function(p, "hot");
	fixture_function(p, "cold");
	fixture_thread(p, 1, 1, "x");
	n = fixture_node(p, 0, 0, 0, 1, 100, 95);
	fixture_node(p, 0, n, 1, 1, 5, 5);
	p->accounting.lost = 1234;
	p->probes.skipped = skipped;
	p->probes.skipped_cnt = 1;
	fixture_finish(p);
	fixture_expect(
		&sink_tree, p, &opts,
		"\033[1mx\033[0m  pid 1  tid 1\n"
		"\033[2m    CALLS    TOTAL     SELF      CPU   SHARE  FUNCTION\033[0m\n"
		"        1   100 ns    95 ns   100 ns  100.0%  \033[2m\033[0m\033[1mhot\033[0m\n"
		"\033[2m        1     5 ns     5 ns     5 ns    5.0%  └─\033[0mcold\n"
		"\n"
		"\033[2mentered 2 = returned 2 + unwound 0 + open 0; lost 1,234, dropped 0\n"
		"0 ns, 2 of 2 probed functions called, 1 not probed (-l tells why)\n\033[0m"
		"\033[33mwarning: 1,234 calls were not recorded because a table was full: "
		"counts and times are too low\033[0m\n");
	profile__free(p);
}

/* Of the 1 ms in main(), 600 us are waits in work(). */
static struct profile *make_waiting(void)
{
	struct profile *p = fixture_small();

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		struct profile_node *n = &p->nodes[i];
		bool work = !strcmp(p->functions[n->function].name, "work");

		if (work)
			n->stats.off_ns = n->stats.off_self_ns = 600000;
		if (!n->parent)
			n->stats.off_ns = 600000;
	}
	fixture_finish(p);
	return p;
}

static void expect_tree(const char *tree, const struct sink_options *opts)
{
	struct profile *p = make_waiting();
	char *text = fixture_write(&sink_tree, p, opts);

	if (strncmp(text, tree, strlen(tree)) != 0)
		fail_msg("not the tree that was expected:\n%s", text);
	free(text);
	profile__free(p);
}

static void assert_first(const struct profile *p, const struct sink_options *opts,
			 const char *heading, const char *first)
{
	char *text = fixture_write(&sink_tree, p, opts);

	if (!strstr(text, heading) || !strstr(text, first))
		fail_msg("no %s or %s in\n%s", heading, first, text);
	free(text);
}

static void test_by_cpu_time(void **state)
{
	const char *tree = "prog  pid 100  tid 101\n"
			   "    CALLS      CPU     SELF    TOTAL   SHARE  FUNCTION\n"
			   "        1   400 us   100 us  1.00 ms  100.0%  main\n"
			   "        1   200 us   200 us   200 us   50.0%  ├─idle\n"
			   "        3   100 us  94.0 us   700 us   25.0%  └─work\n"
			   "    1,234  6.00 us  6.00 us  6.00 us    1.5%    └─leaf\n";

	expect_tree(tree, &(struct sink_options){.weight = WEIGHT_CPU});
	expect_tree(tree, &(struct sink_options){.weight = WEIGHT_CPU, .thread_frames = true});
}

static void test_by_time_off_cpu(void **state)
{
	expect_tree("prog  pid 100  tid 101\n"
		    "    CALLS      OFF     SELF    TOTAL   SHARE  FUNCTION\n"
		    "        1   600 us     0 ns  1.00 ms  100.0%  main\n"
		    "        3   600 us   600 us   700 us  100.0%  ├─work\n"
		    "    1,234     0 ns     0 ns  6.00 us    0.0%  │ └─leaf\n"
		    "        1     0 ns     0 ns   200 us    0.0%  └─idle\n",
		    &(struct sink_options){.weight = WEIGHT_OFF});
}

/* Samples tell all CPU time: work stands before waits, unless -w says otherwise, or there is next
 * to no CPU time. */
static void test_work_before_waits(void **state)
{
	const struct sink_options wall = {.weight_chosen = true};
	const char *by_cpu = "├─idle\n", *by_wall = "├─work\n";
	struct profile *p = make_waiting();

	p->sample_period_ns = 10000;
	p->accounting.cpu_ns = 400000;
	assert_first(p, &plain, "    CPU%  FUNCTION\n", by_cpu);
	assert_first(p, &wall, "   SHARE  FUNCTION\n", by_wall);
	p->accounting.cpu_ns = 20000;
	assert_first(p, &plain, "   SHARE  FUNCTION\n", by_wall);
	profile__free(p);
}

/* Levels take one column each, so that there is room for more of them. */
static void test_narrow(void **state)
{
	expect_tree("prog  pid 100  tid 101\n"
		    "  CALLS    TOTAL     SELF   SHARE  FUNCTION\n"
		    "      1  1.00 ms   100 us  100.0%  main\n"
		    "      3   700 us   694 us   70.0%  ├work\n"
		    "  1,234  6.00 us  6.00 us    0.6%  │└leaf\n"
		    "      1   200 us   200 us   20.0%  └idle\n",
		    &(struct sink_options){.columns = 80});
}

static struct profile *make_threads(void)
{
	struct profile *p = fixture_new();
	uint32_t i;

	fixture_function(p, "f");
	fixture_function(p, "g");
	for (i = 0; i < 3; i++) {
		fixture_thread(p, 7, 8 + i, i < 2 ? "worker" : "ma\nin");
		fixture_node(p, i, fixture_node(p, i, 0, 0, 1, 100 * i, 0), 1, 0, 0, 0);
	}
	fixture_thread(p, 7, 20, "idle");
	fixture_finish(p);
	return p;
}

#define THREADS_FOOTER                                                     \
	"entered 3 = returned 3 + unwound 0 + open 0; lost 0, dropped 0\n" \
	"0 ns, 1 of 2 probed functions called\n"

static void test_threads_are_merged(void **state)
{
	struct profile *p = make_threads();

	fixture_expect(&sink_tree, p, &plain,
		       "ma\\x0ain  pid 7  tid 10\n" COLUMNS
		       "        1   200 ns     0 ns   200 ns  100.0%  f\n"
		       "        0     0 ns     0 ns     0 ns    0.0%  └─g\n"
		       "\n"
		       "worker  pid 7  2 threads\n" COLUMNS
		       "        2   100 ns     0 ns   100 ns  100.0%  f\n"
		       "        0     0 ns     0 ns     0 ns    0.0%  └─g\n"
		       "\n" THREADS_FOOTER);
	profile__free(p);
}

static void test_thread_frames(void **state)
{
	struct sink_options opts = {.thread_frames = true};
	struct profile *p = make_threads();

	fixture_expect(
		&sink_tree, p, &opts,
		"ma\\x0ain  pid 7  tid 10\n" COLUMNS
		"        1   200 ns     0 ns   200 ns  100.0%  f\n"
		"        0     0 ns     0 ns     0 ns    0.0%  └─g\n"
		"\n"
		"worker  pid 7  tid 9\n" COLUMNS "        1   100 ns     0 ns   100 ns  100.0%  f\n"
		"        0     0 ns     0 ns     0 ns    0.0%  └─g\n"
		"\n"
		"worker  pid 7  tid 8\n" COLUMNS "        1     0 ns     0 ns     0 ns       -  f\n"
		"        0     0 ns     0 ns     0 ns       -  └─g\n"
		"\n" THREADS_FOOTER);
	profile__free(p);
}

/* Three processes of a program, one with two threads, and a thread of another name in two. */
static struct profile *make_processes(void)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	for (pid_t tid = 1; tid <= 4; tid++)
		fixture_node(p, fixture_thread(p, tid < 4 ? tid : 3, tid, "server"), 0, 0, 1,
			     100 * tid, 100 * tid);
	for (pid_t pid = 1; pid <= 2; pid++)
		fixture_node(p, fixture_thread(p, pid, 9 + pid, "log"), 0, 0, 1, 0, 0);
	fixture_finish(p);
	return p;
}

#define PROCESSES_FOOTER                                                   \
	"entered 6 = returned 6 + unwound 0 + open 0; lost 0, dropped 0\n" \
	"0 ns, 1 of 1 probed functions called\n"                           \
	"CPU time of calls by process: 70.0% server 3, 20.0% 2, 10.0% 1"

static void test_processes_are_merged(void **state)
{
	struct profile *p = make_processes();

	fixture_expect(&sink_tree, p, &plain,
		       "server  3 processes, 4 threads\n" COLUMNS
		       "        4  1.00 us  1.00 us  1.00 us  100.0%  f\n"
		       "\n"
		       "log  2 processes of server\n" COLUMNS
		       "        2     0 ns     0 ns     0 ns       -  f\n"
		       "\n" PROCESSES_FOOTER " (--process-frames: a tree of each)\n");
	profile__free(p);
}

/* In top nobody can give an option any more. */
static void test_processes_in_top(void **state)
{
	struct sink_options opts = {.live = true};
	struct profile *p = make_processes();
	char *text = fixture_write(&sink_tree, p, &opts);

	assert_non_null(strstr(text, PROCESSES_FOOTER "\n"));
	free(text);
	profile__free(p);
}

static void test_process_frames(void **state)
{
	struct sink_options opts = {.process_frames = true};
	struct profile *p = make_processes();

	fixture_expect(
		&sink_tree, p, &opts,
		"server  pid 3  2 threads\n" COLUMNS
		"        2   700 ns   700 ns   700 ns  100.0%  f\n"
		"\n"
		"server  pid 2  tid 2\n" COLUMNS "        1   200 ns   200 ns   200 ns  100.0%  f\n"
		"\n"
		"server  pid 1  tid 1\n" COLUMNS "        1   100 ns   100 ns   100 ns  100.0%  f\n"
		"\n"
		"log  pid 1  tid 10\n" COLUMNS "        1     0 ns     0 ns     0 ns       -  f\n"
		"\n"
		"log  pid 2  tid 11\n" COLUMNS "        1     0 ns     0 ns     0 ns       -  f\n"
		"\n" PROCESSES_FOOTER "\n");
	profile__free(p);
}

/* The goroutines of several processes are a tree beside that of their threads. */
static void test_goroutines_of_processes(void **state)
{
	struct profile *p = fixture_new();
	char *text;

	fixture_function(p, "f");
	for (uint32_t i = 0; i < 4; i++) {
		fixture_thread(p, 1 + i / 2, i < 3 ? 0 : 2, "server");
		p->threads[i].goroutine = i < 3 ? 5 + i : 0;
		fixture_node(p, i, 0, 0, 1, 100 * (4 - i), 100);
	}
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_ptr_equal(strstr(text, "server  2 processes, 3 goroutines\n"), text);
	assert_non_null(strstr(text, "\nserver  pid 2  tid 2\n"));
	free(text);
	profile__free(p);
}

static void test_empty(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	/* Where samples would be shown that met nothing: no function. */
	fixture_function(p, "[not sampled]");
	p->functions[1].kind = FUNCTION_CALLER;
	fixture_function(p, "g");
	p->probes.functions = 2;
	p->duration_ns = 5000000000;
	fixture_expect(
		&sink_tree, p, &plain,
		"no calls were seen in 5.00 s: 2 functions were probed\n"
		"  probed: f, g\n"
		"  Was the process busy in that time? A function that the compiler has inlined "
		"is\n"
		"  never called, and one that began earlier is seen at its next call only.\n");
	profile__free(p);
}

/* A function that the survey has dropped before the start was not seen to be called. */
static void test_empty_with_drops(void **state)
{
	static struct profile_drop drop = {.calls_per_second = 1000, .cost_percent = 7};
	struct sink_options terminal = {.columns = 80};
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	p->probes.functions = 1;
	p->sample_period_ns = 10000000;
	p->drops = &drop;
	p->drops_cnt = 1;
	fixture_expect(
		&sink_tree, p, &terminal,
		"no calls were seen in 0 ns: 1 function was probed\n"
		"  probed: f\n"
		"  Was the process busy in that time? A function that the compiler has inlined "
		"is\n"
		"  never called, and one that began earlier is seen at its next call only.\n"
		"1 function was dropped to keep to the budget (-v lists them)\n");
	p->drops = NULL;
	profile__free(p);
}

static void test_all_lost(void **state)
{
	struct profile *p = fixture_new();

	p->accounting.lost = 2;
	fixture_expect(&sink_tree, p, &plain,
		       "entered 0 = returned 0 + unwound 0 + open 0; lost 2, dropped 0\n"
		       "0 ns, 0 of 0 probed functions called\n"
		       "warning: 2 calls were not recorded because a table was full: counts and "
		       "times are too low\n");
	profile__free(p);
}

/* Simple recursion, eleven levels deep, whose last level calls something else. */
static void test_recursion(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n = 0, i;

	fixture_function(p, "fib");
	fixture_function(p, "leaf");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 11; i++)
		n = fixture_node(p, 0, n, 0, i + 1, 900, 10);
	fixture_node(p, 0, n, 1, 1, 800, 800);
	fixture_finish(p);
	fixture_expect(&sink_tree, p, &plain,
		       "x  pid 1  tid 1\n" COLUMNS
		       "        1   900 ns    10 ns   900 ns  100.0%  fib\n"
		       "        2   900 ns    10 ns   900 ns  100.0%  └─fib\n"
		       "        3   900 ns    10 ns   900 ns  100.0%    └─fib\n"
		       "        4   900 ns    10 ns   900 ns  100.0%      └─fib\n"
		       "        5   900 ns    10 ns   900 ns  100.0%        └─fib\n"
		       "        6   900 ns    10 ns   900 ns  100.0%          └─fib\n"
		       "        7   900 ns    10 ns   900 ns  100.0%            └─fib\n"
		       "        8   900 ns    10 ns   900 ns  100.0%              └─fib\n"
		       "       30   900 ns    30 ns   900 ns  100.0%                └─fib "
		       "(recursion, 3 levels)\n"
		       "        1   800 ns   800 ns   800 ns   88.9%                  └─leaf\n"
		       "\n"
		       "entered 67 = returned 67 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 2 of 2 probed functions called\n");
	profile__free(p);
}

/* The last lines of a tree that is deeper than indentation goes. */
static void test_deep(void **state)
{
	struct profile *p = fixture_new();
	uint32_t nodes[24] = {0}, i;
	char *text;
	const char *tail;

	fixture_function(p, "ping");
	fixture_function(p, "pong");
	fixture_function(p, "leaf");
	fixture_thread(p, 1, 1, "x");
	for (i = 1; i < 24; i++)
		nodes[i] = fixture_node(p, 0, nodes[i - 1], i % 2, 1, 900, 10);
	fixture_node(p, 0, nodes[19], 2, 1, 5, 5);
	fixture_node(p, 0, nodes[20], 2, 1, 4, 4);
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	tail = strstr(text, "├─ping\n");
	assert_non_null(tail);
	assert_string_equal(tail,
			    "├─ping\n"
			    "        1   900 ns    10 ns   900 ns  100.0%                          "
			    "            │ "
			    "├─pong\n"
			    "        1   900 ns    10 ns   900 ns  100.0%                          "
			    "            │ │ [22] "
			    "ping\n"
			    "        1   900 ns    10 ns   900 ns  100.0%                          "
			    "            │ │ [23] "
			    "pong\n"
			    "        1     4 ns     4 ns     4 ns    0.4%                          "
			    "            │ "
			    "└─leaf\n"
			    "        1     5 ns     5 ns     5 ns    0.6%                          "
			    "            └─leaf\n"
			    "[N] is the level of nested calls, where it is too deep to be drawn\n"
			    "\n"
			    "entered 25 = returned 25 + unwound 0 + open 0; lost 0, dropped 0\n"
			    "0 ns, 3 of 3 probed functions called\n");
	free(text);
	profile__free(p);
}

static size_t count_lines(const char *text)
{
	size_t cnt = 0;

	for (; (text = strchr(text, '\n')); text++)
		cnt++;
	return cnt;
}

/* 2,000 cheap paths in pairs below one dear one. */
static void test_long_trees_are_folded(void **state)
{
	struct sink_options verbose = {.verbose = true};
	struct profile *p = fixture_new();
	uint32_t root, n, i;
	char *text;

	for (i = 0; i < 1002; i++)
		fixture_function(p, i ? "cheap" : "main");
	fixture_thread(p, 1, 1, "x");
	root = fixture_node(p, 0, 0, 0, 1, 10000000, 9090000);
	fixture_node(p, 0, root, 1001, 1, 10000, 10000);
	for (i = 1; i <= 1000; i++) {
		n = fixture_node(p, 0, root, i, 1, 900, 300);
		fixture_node(p, 0, n, 1001, 2, 600, 600);
	}
	fixture_finish(p);
	fixture_expect(&sink_tree, p, &plain,
		       "x  pid 1  tid 1\n" COLUMNS
		       "        1  10.0 ms  9.09 ms  10.0 ms  100.0%  main\n"
		       "        1  10.0 us  10.0 us  10.0 us    0.1%  ├─cheap\n"
		       "    3,000   900 us   900 us   900 us    9.0%  └─… 2,000 more paths\n"
		       "\n"
		       "entered 3,002 = returned 3,002 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 1,002 of 1,002 probed functions called\n");
	text = fixture_write(&sink_tree, p, &verbose);
	assert_int_equal(count_lines(text), 2002 + 5);
	free(text);
	profile__free(p);
}

/* A cheap path that is the only one there keeps its name. */
static void test_single_paths_are_named(void **state)
{
	struct profile *p = fixture_new();
	uint32_t root, n, i;
	char *text;

	for (i = 0; i < 1002; i++)
		fixture_function(p, i ? "dear" : "main");
	fixture_function(p, "helper");
	fixture_thread(p, 1, 1, "x");
	root = fixture_node(p, 0, 0, 0, 1, 10000000, 9000000);
	for (i = 1; i <= 1001; i++) {
		n = fixture_node(p, 0, root, i, 1, 10001, 10000);
		fixture_node(p, 0, n, 1002, 1, 1, 1);
	}
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "├─dear\n"));
	assert_non_null(strstr(text, "│ └─helper\n"));
	assert_null(strstr(text, "more path"));
	free(text);
	profile__free(p);
}

/* Functions that only samples know: a chain is one row, and the kernel's functions are another. */
static void test_samples_in_chains(void **state)
{
	static const char *const names[] = {"_start",	  "main", "loop", "write",
					    "do_syscall", "vfs",  "copy"};
	struct profile *p = fixture_new();
	uint32_t n = 0;

	p->sample_period_ns = 10000000;
	p->accounting.samples_taken = p->accounting.samples_whole = 100;
	p->accounting.cpu_ns = 1000000000;
	fixture_thread(p, 1, 1, "x");
	for (uint32_t i = 0; i < 7; i++) {
		fixture_function(p, names[i]);
		if (i > 3)
			p->functions[i].module = "[kernel]";
		n = fixture_node(p, 0, n, i, 0, 1000000000, i == 6 ? 900000000 : 0);
	}
	fixture_node(p, 0, n, 0, 3, 100000000, 100000000);
	p->probes.functions = 1;
	fixture_finish(p);
	fixture_expect(
		&sink_tree, p, &plain,
		"x  pid 1  tid 1\n" CPU_COLUMNS
		"        -  ~1.00 s        -  ~1.00 s  100.0%  _start › main › loop › write\n"
		"        -  ~1.00 s   900 ms  ~1.00 s  100.0%  └─do_syscall › vfs › copy\n"
		"        3   100 ms   100 ms   100 ms   10.0%    └─_start\n"
		"\n"
		"entered 3 = returned 3 + unwound 0 + open 0; lost 0, dropped 0\n"
		"probes cost 0 ns on top of the target's 1.00 s CPU time (0.0%), taken out; "
		"no budget\n"
		"0 ns, 1 of 1 probed functions called\n"
		"~: estimated from 100 samples of 10.0 ms CPU time each; 100.0% with all "
		"callers\n"
		"CPU time by file: 90.0% kernel, 10.0% prog\n");
	profile__free(p);
}

/* Where a chain does not fit, its first function is shown as well if it tells the row from others:
 * not of a function without a name, nor of the only callee. */
static void test_chains_that_do_not_fit(void **state)
{
	static const char *const firsts[] = {"draw_rectangle", "draw_circle", "func_0x123450"};
	struct profile *p = fixture_new();
	uint32_t root, n;
	char *text;

	p->sample_period_ns = 10000000;
	p->accounting.samples_taken = p->accounting.samples_whole = 100;
	p->accounting.cpu_ns = 900000000;
	fixture_thread(p, 1, 1, "x");
	fixture_function(p, "main");
	for (uint32_t i = 0; i < 3; i++)
		fixture_function(p, firsts[i]);
	fixture_function(p, "a_function_with_a_name_so_long");
	fixture_function(p, "memset");
	root = fixture_node(p, 0, 0, 0, 0, 900000000, 0);
	for (uint32_t i = 0; i < 3; i++) {
		n = fixture_node(p, 0, root, 1 + i, 0, 300000000, 0);
		n = fixture_node(p, 0, n, 4, 0, 300000000, 0);
		fixture_node(p, 0, n, 5, 0, 300000000, 300000000);
	}
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &(struct sink_options){.columns = 86});
	assert_non_null(strstr(text, "├draw_rectangle › … › memset\n"));
	assert_non_null(strstr(text, "├draw_circle › … › memset\n"));
	assert_non_null(strstr(text, "└… › a_function_with_a_name_so_long › memset\n"));
	free(text);
	/* Half of what a name gets does not hold the first function's. */
	text = fixture_write(&sink_tree, p, &(struct sink_options){.columns = 66});
	assert_null(strstr(text, "draw_"));
	free(text);
	profile__free(p);

	p = fixture_new();
	p->sample_period_ns = 10000000;
	fixture_thread(p, 1, 1, "x");
	fixture_function(p, "main");
	fixture_function(p, "draw_rectangle");
	fixture_function(p, "a_function_with_a_name_so_long");
	fixture_function(p, "memset");
	root = fixture_node(p, 0, 0, 0, 1, 900000000, 0);
	n = fixture_node(p, 0, root, 1, 0, 900000000, 0);
	n = fixture_node(p, 0, n, 2, 0, 900000000, 0);
	fixture_node(p, 0, n, 3, 0, 900000000, 900000000);
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &(struct sink_options){.columns = 86});
	assert_non_null(strstr(text, "└… › a_function_with_a_name_so_long › memset\n"));
	free(text);
	profile__free(p);
}

/* A wait for one reason alone is one row with that, apart from the program's functions. */
static void test_waits_in_chains(void **state)
{
	static const char *const names[] = {"loop", "wait", "[epoll_wait]", "[poll]"};
	static const char *const modules[] = {NULL, NULL, "[kernel]", "[waits]"};
	struct profile *p = fixture_new();
	uint32_t n = 0;
	char *text;

	p->sample_period_ns = 10000000;
	fixture_thread(p, 1, 1, "x");
	for (uint32_t i = 0; i < 4; i++) {
		fixture_function(p, names[i]);
		if (modules[i])
			p->functions[i].module = modules[i];
		n = fixture_node(p, 0, n, i, 0, 1000000000, i == 3 ? 1000000000 : 0);
		p->nodes[n].stats.off_ns = 1000000000;
	}
	p->nodes[n].stats.off_self_ns = 1000000000;
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "  loop › wait\n"));
	assert_non_null(strstr(text, "  └─[epoll_wait] › [poll]\n"));
	free(text);
	profile__free(p);
}

/* In a long tree more of the kernel's code is left out than of the program's, but not why it waits:
 * the wait is a hundredth of the tree, the others a quarter of that. */
static void test_reasons_of_waits_stay(void **state)
{
	static const char *const names[] = {"main", "[epoll_wait]", "[poll]"};
	static const char *const modules[] = {NULL, "[kernel]", "[waits]"};
	struct profile *p = fixture_new();
	uint32_t root, n;
	char *text;

	p->sample_period_ns = 100000;
	fixture_thread(p, 1, 1, "x");
	for (uint32_t i = 0; i < 3; i++) {
		fixture_function(p, names[i]);
		if (modules[i])
			p->functions[i].module = modules[i];
	}
	root = fixture_node(p, 0, 0, 0, 1, 10000000000, 4900000000);
	n = fixture_node(p, 0, root, 1, 0, 100000000, 0);
	p->nodes[n].stats.off_ns = 100000000;
	n = fixture_node(p, 0, n, 2, 0, 100000000, 100000000);
	p->nodes[n].stats.off_ns = p->nodes[n].stats.off_self_ns = 100000000;
	for (uint32_t i = 0; i < 200; i++)
		fixture_node(p, 0, root, fixture_function(p, "often"), 1, 25000000, 25000000);
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "├─[epoll_wait] › [poll]\n"));
	assert_non_null(strstr(text, "└─… 200 more paths\n"));
	free(text);
	profile__free(p);
}

/* A wait is just long enough for a row of its own: the row says what the wait is for, although that
 * is shorter. */
static void test_reason_of_short_wait(void **state)
{
	static const char *const names[] = {"main", "[preempted]", "[cpu]", "busy"};
	static const char *const modules[] = {NULL, "[kernel]", "[waits]", NULL};
	struct profile *p = fixture_new();
	uint32_t root, n;
	char *text;

	p->sample_period_ns = 100000;
	fixture_thread(p, 1, 1, "x");
	for (uint32_t i = 0; i < 4; i++) {
		fixture_function(p, names[i]);
		if (modules[i])
			p->functions[i].module = modules[i];
	}
	root = fixture_node(p, 0, 0, 0, 1, 10000000000, 4950000000);
	p->nodes[root].stats.off_ns = 9960000000;
	for (uint32_t i = 1; i <= 2; i++) {
		n = fixture_node(p, 0, i == 1 ? root : n, i, 0, i == 1 ? 34000000 : 30000000,
				 i == 1 ? 4000000 : 30000000);
		p->nodes[n].stats.off_ns = p->nodes[n].stats.total_ns;
	}
	fixture_node(p, 0, root, 3, 1, 20000000, 20000000);
	for (uint32_t i = 0; i < 200; i++) {
		n = fixture_node(p, 0, root, fixture_function(p, "often"), 1, 25000000, 25000000);
		p->nodes[n].stats.off_ns = 25000000;
	}
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "├─[preempted] › [cpu]\n"));
	free(text);
	profile__free(p);
}

/* Reasons of waits below the tree: two locks, "[lock a]" and "[lock b]", are one reason. What
 * probes cost is no part of the time of threads. */
static void test_reasons_of_waits(void **state)
{
	static const char *const names[] = {"[futex]", "[lock]", "[lock a]", "[lock b]", "[cpu]"};
	struct profile *p = fixture_new();
	uint32_t lock, n;
	char *text;

	p->sample_period_ns = 10000000;
	p->accounting.cpu_ns = 130000000;
	p->accounting.probe_ns = 30000000;
	for (uint32_t i = 0; i < 5; i++) {
		fixture_function(p, names[i]);
		p->functions[i].module = i ? "[waits]" : "[kernel]";
	}
	for (uint32_t i = 0; i < 2; i++) {
		fixture_thread(p, 1, i + 1, i ? "b" : "a");
		n = fixture_node(p, i, 0, 0, 0, 500000000, 50000000);
		lock = fixture_node(p, i, n, 1, 0, 200000000, 0);
		fixture_node(p, i, lock, 2, 0, 120000000, 120000000);
		fixture_node(p, i, lock, 3, 0, 80000000, 80000000);
		fixture_node(p, i, n, 4, 0, 250000000, 250000000);
	}
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "\ntime of all threads: 10.0% on a CPU, 50.0% [cpu] (ready, "
				     "but others had the CPUs), 40.0% [lock]\n"));
	free(text);
	profile__free(p);
}

/* Calls that were open before tracing began are one row, without samples as well. */
static void test_roots_in_a_chain(void **state)
{
	static const char *const names[] = {"_start", "main", "loop", "serve", "reply"};
	struct profile *p = fixture_new();
	uint32_t n = 0;

	fixture_thread(p, 1, 1, "x");
	for (uint32_t i = 0; i < 5; i++) {
		fixture_function(p, names[i]);
		n = fixture_node(p, 0, n, i, i < 3 ? 0 : i, i < 3 ? 1000000000 : 900000000,
				 i == 2 || i == 4 ? 100000000 : 0);
	}
	p->probes.functions = 2;
	fixture_finish(p);
	fixture_expect(&sink_tree, p, &plain,
		       "x  pid 1  tid 1\n"
		       "    CALLS    TOTAL     SELF      CPU   SHARE  FUNCTION\n"
		       "        0   1.00 s   100 ms   1.00 s  100.0%  _start › main › loop\n"
		       "        3   900 ms     0 ns   900 ms   90.0%  └─serve\n"
		       "        4   900 ms   100 ms   900 ms   90.0%    └─reply\n"
		       "\n"
		       "entered 7 = returned 7 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 2 of 2 probed functions called\n");
	profile__free(p);
}

/* A pool waits for 1,000 s, another thread works for 0.1 s, in a hundred functions. */
static void test_waiting_hides_no_work(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n;
	char *text;

	p->sample_period_ns = 10000000;
	fixture_thread(p, 1, 1, "x");
	fixture_function(p, "pool");
	fixture_function(p, "work");
	n = fixture_node(p, 0, 0, 0, 0, 1000000000000, 1000000000000);
	p->nodes[n].stats.off_ns = p->nodes[n].stats.off_self_ns = 1000000000000;
	n = fixture_node(p, 0, 0, 1, 0, 100000000, 0);
	for (uint32_t i = 0; i < 100; i++)
		fixture_node(p, 0, n, fixture_function(p, "step"), 0, 1000000, 1000000);
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "work"));
	assert_non_null(strstr(text, "work › …\n"));
	free(text);
	profile__free(p);
}

/* Waits are measured where each was looked at, else estimated; the time off the CPU of a call that
 * was counted is measured in any case. */
static void test_waits_may_be_estimates(void **state)
{
	struct profile *p = fixture_new();
	struct call_stats *s;
	uint32_t n;
	char *text;

	p->sample_period_ns = 10000000;
	fixture_thread(p, 1, 1, "x");
	fixture_function(p, "serve");
	fixture_function(p, "[read]");
	n = fixture_node(p, 0, 0, 0, 1, 3000000, 1000000);
	n = fixture_node(p, 0, n, 1, 0, 2000000, 2000000);
	s = &p->nodes[n].stats;
	s->off_ns = s->off_self_ns = 2000000;
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "        -  2.00 ms  2.00 ms     0 ns   66.7%  └─[read]\n"));
	free(text);
	p->accounting.waits_estimated = 5;
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "        1  3.00 ms  1.00 ms  3.00 ms  100.0%  serve\n"));
	assert_non_null(strstr(text, "        - ~2.00 ms ~2.00 ms    ~0 ns   66.7%  └─[read]\n"));
	free(text);
	profile__free(p);
}

/* A path that few samples have met is chance: it is folded, however much of the time they stand
 * for. Calls that were counted are not. */
static void test_chance_is_folded(void **state)
{
	struct profile *p = fixture_new();
	uint32_t root, n;
	char *text;

	p->sample_period_ns = 10000000;
	fixture_thread(p, 1, 1, "x");
	fixture_function(p, "main");
	root = fixture_node(p, 0, 0, 0, 0, 1360000000, 0);
	for (uint32_t i = 0; i < 30; i++)
		fixture_node(p, 0, root, fixture_function(p, "often"), 0, 30000000, 30000000);
	fixture_node(p, 0, root, fixture_function(p, "counted"), 1, 12000000, 12000000);
	for (uint32_t i = 0; i < 40; i++) {
		n = fixture_node(p, 0, root, fixture_function(p, "caller"), 0, 11000000, 1000000);
		fixture_node(p, 0, n, fixture_function(p, "once"), 0, 10000000, 10000000);
	}
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_int_equal(count_lines(text), 2 + 1 + 30 + 1 + 1 + 5);
	assert_non_null(strstr(text, "often"));
	assert_non_null(strstr(text, "counted"));
	assert_non_null(strstr(text, "80 more paths"));
	free(text);
	profile__free(p);
}

/* Mutual recursion: no level is cheap, none is simple recursion. */
static void test_very_deep(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n = 0, i;
	char *text;

	fixture_function(p, "ping");
	fixture_function(p, "pong");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 200000; i++)
		n = fixture_node(p, 0, n, i % 2, 1, 1000000 - i, 1);
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	assert_non_null(strstr(text, "[64] pong\n"));
	assert_non_null(strstr(text, "[65] … 199,936 more paths\n"));
	assert_int_equal(count_lines(text), 2 + 65 + 4);
	free(text);
	profile__free(p);
}

static void test_long_names(void **state)
{
	struct sink_options verbose = {.verbose = true};
	struct profile *p = fixture_new();
	char name[1001] = "", *text;
	const char *shown;
	uint32_t i;

	for (i = 0; i < 500; i++)
		strcat(name, "é");
	fixture_function(p, name);
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 0, 0, 1, 10, 10);
	fixture_finish(p);
	text = fixture_write(&sink_tree, p, &plain);
	shown = strstr(text, "é");
	assert_non_null(shown);
	assert_memory_equal(shown, name, 2 * 32);
	assert_memory_equal(shown + 2 * 32, "…", 3);
	assert_memory_equal(shown + 2 * 32 + 3, name, 2 * 31);
	assert_int_equal(shown[2 * 32 + 3 + 2 * 31], '\n');
	free(text);
	text = fixture_write(&sink_tree, p, &verbose);
	assert_non_null(strstr(text, name));
	free(text);
	profile__free(p);
}

/* A time that cannot be told from the probes' cost is a bound; a waiting call has little CPU time.
 */
static struct profile *make_uncertain(void)
{
	struct profile *p = fixture_new();
	uint32_t n;

	fixture_function(p, "wait");
	fixture_function(p, "tiny");
	fixture_function(p, "less");
	p->functions[1].sampled = 100;
	fixture_thread(p, 1, 1, "x");
	n = fixture_node(p, 0, 0, 0, 1, 2000000, 1999000);
	p->nodes[n].stats.off_ns = p->nodes[n].stats.off_self_ns = 1900000;
	p->nodes[n].stats.self_error_ns = 1200;
	p->nodes[n].stats.error_ns = 5300;
	n = fixture_node(p, 0, n, 1, 400, 900, 800);
	p->nodes[n].stats.self_error_ns = 4000;
	p->nodes[n].stats.error_ns = 4100;
	n = fixture_node(p, 0, n, 2, 1, 100, 100);
	p->nodes[n].stats.self_error_ns = p->nodes[n].stats.error_ns = 100;
	fixture_finish(p);
	return p;
}

#define UNCERTAIN_FOOTER                                                       \
	"\n"                                                                   \
	"entered 402 = returned 402 + unwound 0 + open 0; lost 0, dropped 0\n" \
	"0 ns, 3 of 3 probed functions called\n"

static void test_uncertain_times(void **state)
{
	struct sink_options verbose = {.verbose = true}, raw = {.verbose = true, .raw = true};
	struct profile *p = make_uncertain();

	fixture_expect(&sink_tree, p, &plain,
		       "x  pid 1  tid 1\n" COLUMNS
		       "        1  2.00 ms  2.00 ms   100 us  100.0%  wait\n"
		       "     ~400    <5 us    <5 us    <5 us   <0.1%  └─tiny\n"
		       "        1  <100 ns  <100 ns  <100 ns   <0.1%    └─less\n" UNCERTAIN_FOOTER);
	fixture_expect(&sink_tree, p, &verbose,
		       "x  pid 1  tid 1\n"
		       "    CALLS    TOTAL      +/-     SELF      +/-      CPU   SHARE  FUNCTION\n"
		       "        1  2.00 ms  5.30 us  2.00 ms  1.20 us   100 us  100.0%  wait\n"
		       "     ~400    <5 us  4.10 us    <5 us  4.00 us    <5 us   <0.1%  └─tiny\n"
		       "        1  <100 ns   100 ns  <100 ns   100 ns  <100 ns   <0.1%    "
		       "└─less\n" UNCERTAIN_FOOTER);
	fixture_expect(&sink_tree, p, &raw,
		       "x  pid 1  tid 1\n" COLUMNS
		       "        1  2.00 ms  2.00 ms   100 us  100.0%  wait\n"
		       "     ~400   900 ns   800 ns   900 ns   <0.1%  └─tiny\n"
		       "        1   100 ns   100 ns   100 ns   <0.1%    └─less\n" UNCERTAIN_FOOTER);
	profile__free(p);
}

static void test_histogram(void **state)
{
	char *hists[] = {"tin*"};
	struct sink_options opts = {.hists = hists, .hists_cnt = 1};
	struct profile *p = make_uncertain();
	char *text;

	fixture_bucket(p, 1, 8, 300);
	fixture_bucket(p, 1, 9, 100);
	text = fixture_write(&sink_tree, p, &opts);
	assert_non_null(strstr(text, "└─less\n"
				     "\n"
				     "tiny  ~400 finished calls\n"
				     "      8 ns up to    16 ns            400  "
				     "████████████████████████████████████████\n"
				     "\n"
				     "entered"));
	free(text);
	profile__free(p);
}

static void test_everything_is_too_short(void **state)
{
	struct profile *p = fixture_small();

	assert_int_equal(profile__prune(p, 1000001), 0);
	fixture_expect(&sink_tree, p, &plain,
		       "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "10.0 s, 4 of 5 probed functions called\n");
	profile__free(p);
}

/* Of 1,000 samples the probes account for 100, in the kernel: 900 are left. */
static void test_where_cpu_time_went(void **state)
{
	struct profile *p = fixture_small();

	p->accounting.cpu_ns = 10000000000;
	p->accounting.probe_ns = 1000000000;
	fixture_cpu_share(p, (struct profile_cpu_share){"[kernel]", 370, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"[unknown]", 0, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/usr/sbin/nginx", 300, 90, 1});
	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/libz.so.1", 320, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/libc.so.6", 8, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/libdl.so.2", 2, 0, 0});
	assert_int_equal(profile__prune(p, 1000001), 0);
	fixture_expect(
		&sink_tree, p, &plain,
		"entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		"probes cost 1.00 s on top of the target's 9.00 s CPU time (11.1%), taken "
		"out; no budget\n"
		"10.0 s, 4 of 5 probed functions called\n"
		"CPU time by 900 samples: 10.0% in traced functions themselves; the rest, which\n"
		"they may have called:\n"
		"    35.6%  libz.so.1\n"
		"    30.0%  kernel\n"
		"    23.3%  nginx, not traced\n"
		"     1.1%  others\n"
		"  -F 'libz.so.1:*' traces the calls there\n");
	profile__free(p);
}

/* 49 samples say nothing. */
static void test_few_samples(void **state)
{
	struct profile *p = fixture_small();

	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/libz.so.1", 49, 0, 0});
	assert_int_equal(profile__prune(p, 1000001), 0);
	fixture_expect(&sink_tree, p, &plain,
		       "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "10.0 s, 4 of 5 probed functions called\n");
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_color),
		cmocka_unit_test(test_by_cpu_time),
		cmocka_unit_test(test_by_time_off_cpu),
		cmocka_unit_test(test_work_before_waits),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_threads_are_merged),
		cmocka_unit_test(test_thread_frames),
		cmocka_unit_test(test_processes_are_merged),
		cmocka_unit_test(test_processes_in_top),
		cmocka_unit_test(test_process_frames),
		cmocka_unit_test(test_goroutines_of_processes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_empty_with_drops),
		cmocka_unit_test(test_all_lost),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_long_trees_are_folded),
		cmocka_unit_test(test_single_paths_are_named),
		cmocka_unit_test(test_samples_in_chains),
		cmocka_unit_test(test_chains_that_do_not_fit),
		cmocka_unit_test(test_waits_in_chains),
		cmocka_unit_test(test_reasons_of_waits),
		cmocka_unit_test(test_reasons_of_waits_stay),
		cmocka_unit_test(test_reason_of_short_wait),
		cmocka_unit_test(test_roots_in_a_chain),
		cmocka_unit_test(test_waiting_hides_no_work),
		cmocka_unit_test(test_waits_may_be_estimates),
		cmocka_unit_test(test_chance_is_folded),
		cmocka_unit_test(test_very_deep),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_uncertain_times),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_everything_is_too_short),
		cmocka_unit_test(test_where_cpu_time_went),
		cmocka_unit_test(test_few_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
