// SPDX-License-Identifier: GPL-2.0-or-later
/* Where CPU time went, as people read it below trees and tables. */
#include "fixture.h"
#include "sink/text/cpu_shares.h"
#include "sink/text/printer.h"

static void expect_of(int (*print)(struct printer *pr), struct profile *p, const char *expected)
{
	const struct sink_options opts = {0};
	char *text;
	size_t len;
	struct printer pr = {.profile = p, .opts = &opts, .out = open_memstream(&text, &len)};

	assert_non_null(pr.out);
	assert_int_equal(print(&pr), 0);
	printer__fini(&pr);
	fclose(pr.out);
	assert_string_equal(text, expected);
	free(text);
	profile__free(p);
}

static void expect(struct profile *p, const char *expected)
{
	expect_of(cpu_shares__print, p, expected);
}

static struct profile *program(const char *module, uint64_t samples, uint64_t traced)
{
	struct profile *p = fixture_new();

	fixture_cpu_share(p, (struct profile_cpu_share){module, samples, traced, 1});
	return p;
}

static void test_files(void **state)
{
	struct profile *p = program("/usr/bin/prog", 500, 300);

	fixture_cpu_share(p, (struct profile_cpu_share){"[kernel]", 100, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/libz.so.1", 400, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 30.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    40.0%  libz.so.1\n"
	       "    20.0%  prog, not traced\n"
	       "    10.0%  kernel\n"
	       "  -F 'libz.so.1:*' traces the calls there\n");
}

/* Where processes begin all the time most may be the dynamic linker's; nobody is told to trace it.
 */
static void test_dynamic_linker(void **state)
{
	struct profile *p = program("/usr/bin/prog", 300, 300);

	fixture_cpu_share(p, (struct profile_cpu_share){"/lib64/ld-linux-x86-64.so.2", 500, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/libz.so.1", 200, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 30.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    50.0%  ld-linux-x86-64.so.2\n"
	       "    20.0%  libz.so.1\n"
	       "  -F 'libz.so.1:*' traces the calls there\n");
	p = program("/usr/bin/prog", 500, 500);
	fixture_cpu_share(p, (struct profile_cpu_share){"/lib/ld-musl-x86_64.so.1", 500, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 50.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    50.0%  ld-musl-x86_64.so.1\n");
}

/* Where functions tell the files as well: code in no file is not the program's. */
static void test_made_by_functions(void **state)
{
	struct profile *p = fixture_new();
	uint32_t made = fixture_function(p, "[anonymous]"), own = fixture_function(p, "main");

	p->sample_period_ns = 10000000;
	p->functions[made].module = "[anonymous]";
	p->functions[own].module = "/usr/bin/node";
	fixture_thread(p, 1, 1, "node");
	fixture_node(p, 0, 0, made, 0, 900000000, 900000000);
	fixture_node(p, 0, 0, own, 1, 100000000, 100000000);
	fixture_finish(p);
	expect(p, "CPU time by file: 90.0% code made at run time (by a JIT), 10.0% node\n"
		  "  functions made at run time are shown by node --cpu-prof, or here with node "
		  "--perf-basic-prof\n");
}

/* Code of a JIT is in memory that has no file, or one that was made for it. */
static void test_code_made_at_run_time(void **state)
{
	struct profile *p = program("/usr/bin/node", 100, 100);

	fixture_cpu_share(p, (struct profile_cpu_share){"[anonymous]", 900, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 10.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    90.0%  code made at run time (by a JIT): in no file, not traced\n"
	       "  functions made at run time are shown by node --cpu-prof, or here with node "
	       "--perf-basic-prof\n");
	p = program("/usr/bin/java", 10, 0);
	fixture_cpu_share(p, (struct profile_cpu_share){"[anonymous]", 990, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/opt/lib/server/libjvm.so", 0, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 0.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    99.0%  code made at run time (by a JIT): in no file, not traced\n"
	       "     1.0%  java, not traced\n"
	       "  functions made at run time are shown by async-profiler, or JDK Flight Recorder "
	       "(Java)\n");
	p = program("/usr/lib/erlang/erts-13.1.5/bin/beam.smp", 100, 100);
	fixture_cpu_share(p, (struct profile_cpu_share){"[anonymous]", 900, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 10.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    90.0%  code made at run time (by a JIT): in no file, not traced\n"
	       "  functions made at run time are shown by eprof, or here with erl +JPperf true "
	       "(Erlang, Elixir)\n");
	/* Users are not told to trace such files by their names. */
	p = program("/usr/bin/host", 500, 500);
	fixture_cpu_share(p, (struct profile_cpu_share){"/memfd:code (deleted)", 250, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"[anon:code]", 250, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 50.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "    25.0%  code made at run time (by a JIT): in no file, not traced\n"
	       "    25.0%  code made at run time (by a JIT): in no file, not traced\n"
	       "  functions made at run time are shown by a profiler of their language\n");
}

static void test_little_of_it(void **state)
{
	struct profile *p = program("/usr/bin/prog", 960, 960);

	fixture_cpu_share(p, (struct profile_cpu_share){"[anonymous]", 40, 0, 0});
	expect(p,
	       "CPU time by 1,000 samples: 96.0% in traced functions themselves; the rest, which\n"
	       "they may have called:\n"
	       "     4.0%  code made at run time (by a JIT): in no file, not traced\n");
	expect(program("/usr/bin/prog", 49, 0), "");
}

/* Two processes: of one so much was measured in main, of the other so many samples of 10 ms have
 * met read. */
static struct profile *two_processes(uint64_t measured_ns, uint64_t samples)
{
	struct profile *p = fixture_new();
	uint32_t main = fixture_function(p, "main"), read = fixture_function(p, "read"), n;

	p->sample_period_ns = 10000000;
	p->functions[main].module = "/usr/bin/prog";
	p->functions[read].module = "/lib/libc.so.6";
	fixture_thread(p, 1, 1, "prog");
	fixture_thread(p, 2, 2, "prog");
	fixture_node(p, 0, 0, main, 1, measured_ns, measured_ns);
	n = fixture_node(p, 1, 0, read, 0, samples * 10000000, samples * 10000000);
	p->nodes[n].stats.samples = samples;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = samples * 10000000;
	fixture_finish(p);
	return p;
}

static void expect_processes(struct profile *p, const char *expected)
{
	expect_of(cpu_shares__print_processes, p, expected);
}

#define ADVICE "  -F 'libc.so.6:*' traces the calls there\n"

/* Nothing is said by 49 samples of all that there is. */
static void test_few_samples(void **state)
{
	expect(two_processes(0, 49), "");
	expect_processes(two_processes(0, 49), "");
	expect(two_processes(0, 50), "CPU time by file: 100.0% libc.so.6\n" ADVICE);
	expect_processes(two_processes(0, 50),
			 "CPU time by process: 100.0% prog 2, 0.0% 1 other\n");
	expect(two_processes(10000000, 4), "");
	expect_processes(two_processes(10000000, 4), "");
}

/* Four samples do beside 360 ms that were measured: 40 ms of 400 ms are known within 20 ms. */
static void test_few_samples_beside_measured_time(void **state)
{
	expect(two_processes(360000000, 4),
	       "CPU time by file: 90.0% prog, 10.0% libc.so.6\n" ADVICE);
	expect_processes(two_processes(360000000, 4),
			 "CPU time by process: 90.0% prog 1, 10.0% 2\n");
}

/* A stranger's recording may name no file, or in characters that a terminal would obey. */
static void test_names_of_damaged_recordings(void **state)
{
	struct profile *p = fixture_new();
	char *nothing = calloc(1, 1); /* of its own, so that a sanitizer sees what is read */
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g");

	assert_non_null(nothing);
	p->sample_period_ns = 10000000;
	p->functions[f].module = nothing;
	p->functions[g].module = "x\033[2J]";
	fixture_thread(p, 1, 1, "prog");
	fixture_node(p, 0, 0, f, 1, 900000000, 900000000);
	fixture_node(p, 0, 0, g, 1, 100000000, 100000000);
	fixture_finish(p);
	expect(p, "CPU time by file: 90.0% unknown, 10.0% x\\x1b[2J\n");
	p = program("\007", 60, 0);
	fixture_cpu_share(p, (struct profile_cpu_share){nothing, 40, 0, 0});
	expect(p, "CPU time by 100 samples: 0.0% in traced functions themselves; the rest, which\n"
		  "they may have called:\n"
		  "    60.0%  \\x07\n"
		  "    40.0%  unknown\n");
	free(nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_dynamic_linker),
		cmocka_unit_test(test_code_made_at_run_time),
		cmocka_unit_test(test_made_by_functions),
		cmocka_unit_test(test_little_of_it),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_few_samples_beside_measured_time),
		cmocka_unit_test(test_names_of_damaged_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
