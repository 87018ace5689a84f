// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#define HEAD "# callgrind format\nversion: 1\ncreator: proftrace " PROFTRACE_VERSION "\n"
#define EVENTS                                \
	"positions: line\n"                   \
	"event: Wall : wall time, ns\n"       \
	"event: Cpu : time on a CPU, ns\n"    \
	"event: Off : time off the CPU, ns\n" \
	"event: Calls : calls\n"              \
	"events: Wall Cpu Off Calls\n"

static const struct sink_options plain;

static void test_graph(void **state)
{
	static const pid_t pids[] = {100};
	struct profile *p = fixture_small();

	p->target.pids = pids;
	p->target.pids_cnt = 1;
	p->functions[1].file = "work.c";
	p->functions[1].line = 3;
	p->functions[3].module = "/usr/lib/libl.so";
	p->nodes[2].stats.off_ns = p->nodes[2].stats.off_self_ns = 150000;
	p->nodes[1].stats.off_ns = 150000;
	fixture_expect(&sink_callgrind, p, &plain,
		       HEAD "pid: 100\ncmd: PID 100\n"
			    "desc: entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, "
			    "dropped 0\n" EVENTS
			    /* Sorted by module, file and name. */
			    "\nob=(2) /usr/bin/prog\nfl=(2) ???\nfn=(1) idle\n"
			    "0 200000 50000 150000 1\n"
			    "\nob=(2)\nfl=(2)\nfn=(2) main\n"
			    "0 100000 100000 0 1\n"
			    "cob=(2)\ncfl=(2)\ncfn=(1)\ncalls=1 0\n0 200000 50000 150000 1\n"
			    "cob=(2)\ncfl=(3) work.c\ncfn=(3) work\n"
			    "calls=3 3\n0 700000 700000 0 1237\n"
			    "\nob=(2)\nfl=(3)\nfn=(3)\n"
			    "3 694000 694000 0 3\n"
			    "cob=(3) /usr/lib/libl.so\ncfl=(4) ???\ncfn=(4) leaf\n"
			    "calls=1234 0\n3 6000 6000 0 1234\n"
			    "\nob=(3)\nfl=(4)\nfn=(4)\n"
			    "0 6000 6000 0 1234\n"
			    "\nob=(1) ???\nfl=(1) ???\nfn=(5) prog-100/101\n"
			    "0 0 0 0 0\n"
			    "cob=(2)\ncfl=(2)\ncfn=(2)\ncalls=1 0\n0 1000000 850000 150000 1239\n"
			    "\ntotals: 1000000 850000 150000 1239\n");
	profile__free(p);
}

/* a calls b, which calls a; two functions of one name, one of which calls the other; a call that
 * began before the profile did; names that are not to be seen, or to end the line. */
static void test_recursion_and_names(void **state)
{
	struct profile *p = fixture_new();
	uint32_t a = fixture_function(p, "a\n"), b = fixture_function(p, " \n");
	uint32_t twins[] = {fixture_function(p, "twin"), fixture_function(p, "twin")}, n;

	fixture_function(p, "never");
	fixture_thread(p, 1, 2, "x");
	fixture_thread(p, 1, 3, "idle");
	n = fixture_node(p, 0, 0, a, 1, 100, 10);
	n = fixture_node(p, 0, n, b, 2, 90, 20);
	n = fixture_node(p, 0, n, a, 3, 70, 30);
	n = fixture_node(p, 0, n, twins[0], 0, 40, 15);
	fixture_node(p, 0, n, twins[1], 4, 25, 25);
	fixture_finish(p);
	fixture_expect(&sink_callgrind, p, &plain,
		       HEAD "desc: entered 10 = returned 10 + unwound 0 + open 0; lost 0, "
			    "dropped 0\n" EVENTS "\nob=(2) /usr/bin/prog\nfl=(2) ???\nfn=(1) ???\n"
			    "0 20 20 0 2\n"
			    "cob=(2)\ncfl=(2)\ncfn=(2) a \ncalls=3 0\n0 0 0 0 0\n"
			    "\nob=(2)\nfl=(2)\nfn=(2)\n"
			    "0 40 40 0 4\n"
			    "cob=(2)\ncfl=(2)\ncfn=(1)\ncalls=2 0\n0 90 90 0 9\n"
			    "cob=(2)\ncfl=(2)\ncfn=(3) twin\ncalls=1 0\n0 40 40 0 4\n"
			    "\nob=(2)\nfl=(2)\nfn=(3)\n"
			    "0 40 40 0 4\n"
			    "cob=(2)\ncfl=(2)\ncfn=(3)\ncalls=4 0\n0 0 0 0 0\n"
			    "\nob=(1) ???\nfl=(1) ???\nfn=(4) x-1/2\n"
			    "0 0 0 0 0\n"
			    "cob=(2)\ncfl=(2)\ncfn=(2)\ncalls=1 0\n0 100 100 0 10\n"
			    "\ntotals: 100 100 0 10\n");
	profile__free(p);
}

static void test_nothing(void **state)
{
	struct profile *p = fixture_new();

	fixture_finish(p);
	fixture_expect(&sink_callgrind, p, &plain,
		       HEAD "desc: entered 0 = returned 0 + unwound 0 + open 0; lost 0, "
			    "dropped 0\n" EVENTS "\ntotals: 0 0 0 0\n");
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_recursion_and_names),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
