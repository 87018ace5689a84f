// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines, good and bad. What is printed is captured through the descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/option_table.h"
#include "cli/command_line.h"
#include "cli/options.h"

#define MAX_ARGS 32

/* One parsed command line, and the output of parsing. */
static struct options o;
static char *args[MAX_ARGS];
static char out[16384], err[4096];

static int capture(int target, int *fd)
{
	int saved = dup(target);

	*fd = memfd_create("captured", MFD_CLOEXEC);
	assert_true(saved >= 0 && *fd >= 0);
	dup2(*fd, target);
	return saved;
}

static void release(int target, int saved, int fd, char *text, size_t size)
{
	ssize_t len = pread(fd, text, size - 1, 0);

	text[len < 0 ? 0 : len] = '\0';
	dup2(saved, target);
	close(saved);
	close(fd);
}

static int parse(const char *const *words)
{
	int argc = 1, status, saved_out, saved_err, out_fd, err_fd;

	args[0] = (char *)"proftrace";
	for (; words[argc - 1]; argc++)
		args[argc] = (char *)words[argc - 1];
	args[argc] = NULL;
	options__clear(&o);
	fflush(stdout);
	fflush(stderr);
	saved_out = capture(STDOUT_FILENO, &out_fd);
	saved_err = capture(STDERR_FILENO, &err_fd);
	status = options__parse(&o, argc, args);
	fflush(stdout);
	fflush(stderr);
	release(STDOUT_FILENO, saved_out, out_fd, out, sizeof(out));
	release(STDERR_FILENO, saved_err, err_fd, err, sizeof(err));
	return status;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

/* Good, and silent. */
#define ACCEPT(...)                                      \
	do {                                             \
		assert_int_equal(PARSE(__VA_ARGS__), 0); \
		assert_string_equal(out, "");            \
		assert_string_equal(err, "");            \
	} while (0)

/* A usage error in one line that says `word`. */
static void assert_refused(int status, const char *word)
{
	size_t len = strlen(err);

	assert_int_equal(status, OPTIONS_USAGE_STATUS + 1);
	assert_string_equal(out, "");
	assert_true(len > 0 && strchr(err, '\n') == err + len - 1);
	assert_int_equal(strncmp(err, "proftrace: ", 11), 0);
	if (!strstr(err, word))
		fail_msg("no \"%s\" in: %s", word, err);
}

/* Taken, with a warning that says `word`. */
#define WARN(word, ...)                                  \
	do {                                             \
		assert_int_equal(PARSE(__VA_ARGS__), 0); \
		assert_non_null(strstr(err, word));      \
	} while (0)

#define REFUSE(word, ...) assert_refused(PARSE(__VA_ARGS__), word)

static int teardown(void **state)
{
	options__clear(&o);
	return 0;
}

static void defaults(void **state)
{
	ACCEPT("-p", "12");
	assert_int_equal(o.pids_cnt, 1);
	assert_int_equal(o.pids[0], 12);
	assert_null(o.exec);
	assert_null(o.command);
	assert_int_equal(o.filters_cnt, 0);
	assert_int_equal(o.notraces_cnt, 0);
	assert_int_equal(o.depth, 0);
	assert_int_equal(o.duration_ns, 0);
	assert_int_equal(o.interval_ns, 0);
	assert_int_equal(o.max_paths, 1 << 20);
	assert_null(o.backend);
	assert_null(o.exits);
	assert_false(o.list);
	assert_null(o.sink);
	assert_int_equal(o.sink_opts.weight, WEIGHT_WALL);
	assert_false(o.sink_opts.thread_frames || o.sink_opts.process_frames);
	assert_false(o.sink_opts.reverse || o.sink_opts.raw || o.raw);
	assert_int_equal(o.sample_hot, 0);
	assert_int_equal(o.min_time_ns, 0);
	assert_int_equal(o.sink_opts.hists_cnt, 0);
	assert_null(o.output);
	assert_int_equal(o.color, COLOR_AUTO);
	assert_false(o.quiet || o.verbose || o.help || o.complained);
}

static void assert_all_set(void)
{
	assert_int_equal(o.pids_cnt, 1);
	assert_string_equal(o.exec, "/bin/x");
	assert_int_equal(o.filters_cnt, 2);
	assert_string_equal(o.filters[0], "a*");
	assert_string_equal(o.filters[1], "libc.so.6:*");
	assert_int_equal(o.notraces_cnt, 1);
	assert_string_equal(o.notraces[0], "ab");
	assert_int_equal(o.depth, 3);
	assert_true(o.list);
	assert_int_equal(o.duration_ns, 1500000000);
	assert_int_equal(o.interval_ns, 250000000);
	assert_ptr_equal(o.sink, &sink_json);
	assert_string_equal(o.output, "out.json");
	assert_int_equal(o.sink_opts.weight, WEIGHT_CALLS);
}

static void short_options(void **state)
{
	ACCEPT("-p", "12", "-x", "/bin/x", "-F", "a*", "-F", "libc.so.6:*", "-N", "ab", "-D", "3",
	       "-l", "-d", "1.5", "-i", ".25", "-f", "json", "-o", "out.json", "-w", "calls", "-q");
	assert_all_set();
	assert_true(o.quiet);
}

static void long_options(void **state)
{
	ACCEPT("--pid=12", "--exec", "/bin/x", "--filter=a*", "--filter", "libc.so.6:*",
	       "--notrace=ab", "--depth=3", "--list", "--duration=1.5", "--interval=0.25",
	       "--format=json", "--output", "out.json", "--weight=calls", "--verbose",
	       "--thread-frames", "--process-frames", "--max-paths=5", "--tier=session",
	       "--color=never");
	assert_all_set();
	assert_true(o.verbose && o.sink_opts.verbose);
	assert_true(o.sink_opts.thread_frames && o.sink_opts.process_frames);
	assert_int_equal(o.max_paths, 5);
	assert_string_equal(o.backend, "session");
	assert_int_equal(o.color, COLOR_NEVER);
}

static void room_for_paths(void **state)
{
	ACCEPT("-p", "12", "-d", "60");
	assert_int_equal(o.max_paths, 1 << 18);
	ACCEPT("-p", "12", "-d", "60", "--max-paths", "1048576");
	assert_int_equal(o.max_paths, 1 << 20);
	ACCEPT("-p", "12", "-d", "61");
	assert_int_equal(o.max_paths, 1 << 20);
	ACCEPT("-p", "12", "-d", "60", "-F", "a*");
	assert_int_equal(o.max_paths, 1 << 20);
	ACCEPT("-p", "12", "-d", "60", "--calls");
	assert_int_equal(o.max_paths, 1 << 20);
}

static void exit_strategies(void **state)
{
	ACCEPT("--exits=return", "-p", "1");
	assert_string_equal(o.exits, "return");
	ACCEPT("--exits", "sites", "-p", "1");
	assert_string_equal(o.exits, "sites");
	ACCEPT("--exits=none", "--exits=auto", "-p", "1");
	assert_null(o.exits);
	REFUSE("--exits ret: not one of auto, return, sites, none", "--exits=ret", "-p", "1");
	REFUSE("--exits", "--exits=", "-p", "1");
}

/* `-F "$NAME"` of a variable that is not set is no wish for all functions, without a budget. */
static void globs_that_are_empty(void **state)
{
	static const char *const options[] = {"-F",	 "-N",	      "--trigger",
					      "--until", "--session", "--hist"};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		REFUSE("FUNC or OBJECT:FUNC is needed", "-p1", options[i], "");
		REFUSE("FUNC or OBJECT:FUNC is needed", "-p1", options[i], ":f");
	}
	REFUSE("-F", "-p1", "-F", "f", "-F", "");
	ACCEPT("-p1", "-F", "libc.so.6:", "-F", "::f", "-F", "*:f", "-F", "*");
	assert_int_equal(o.filters_cnt, 4);
}

/* A user who names functions wants them: then there is no budget unless one is given. */
static void budgets(void **state)
{
	static const char *const bad[] = {"0", "-1", "", "x", "5%", "nan", "inf", "1e7", "NONE"};

	ACCEPT("-p1");
	assert_true(o.max_overhead == 5);
	ACCEPT("-p1", "-N", "x");
	assert_true(o.max_overhead == 5);
	ACCEPT("-p1", "-F", "x");
	assert_true(o.max_overhead == 0);
	ACCEPT("--max-overhead=2.5", "-p1", "-F", "x");
	assert_true(o.max_overhead == 2.5);
	ACCEPT("-p1", "--max-overhead", "none");
	assert_true(o.max_overhead == 0);
	ACCEPT("-p1", "--max-overhead", "400", "--sample-hot=2");
	assert_true(o.max_overhead == 400);
	assert_int_equal(o.sample_hot, 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		REFUSE("nor none", "-p1", "--max-overhead", bad[i]);
	/* Where nothing is dropped nothing is sampled. */
	WARN("with -F: add --max-overhead", "-p1", "-F", "x", "--sample-hot=2");
	WARN("add --max-overhead", "-p1", "--max-overhead=none", "--sample-hot=2");
	ACCEPT("-p1", "-F", "x", "--max-overhead=5", "--sample-hot=2");
	REFUSE("from 2 to", "-p1", "--sample-hot=1");
	REFUSE("from 2 to", "-p1", "--sample-hot=0");
	REFUSE("from 2 to", "-p1", "--sample-hot=x");
	REFUSE("from 2 to", "-p1", "--sample-hot=1000001");
}

static void what_is_shown(void **state)
{
	static const char *const names[] = {"wall", "cpu", "off", "calls"};
	static const enum weight weights[] = {WEIGHT_WALL, WEIGHT_CPU, WEIGHT_OFF, WEIGHT_CALLS};

	for (size_t i = 0; i < 4; i++) {
		ACCEPT("-p1", "-w", names[i]);
		assert_int_equal(o.sink_opts.weight, weights[i]);
	}
	ACCEPT("-p1", "--raw", "--reverse", "--hist", "a*", "--hist=b");
	assert_true(o.raw && o.sink_opts.raw && o.sink_opts.reverse);
	assert_int_equal(o.sink_opts.hists_cnt, 2);
	assert_string_equal(o.sink_opts.hists[0], "a*");
	assert_string_equal(o.sink_opts.hists[1], "b");
}

static void least_times(void **state)
{
	static const char *const bad[] = {"10",	    "0s",   "-1ms", "ms",   "1 ms", "1m",
					  "1.5.ms", "nans", "infs", "2e9s", "",	    "0.1ns"};

	ACCEPT("-p1", "--min-time", "500ns");
	assert_int_equal(o.min_time_ns, 500);
	ACCEPT("-p1", "--min-time=10us");
	assert_int_equal(o.min_time_ns, 10000);
	ACCEPT("-p1", "--min-time=1.5ms");
	assert_int_equal(o.min_time_ns, 1500000);
	ACCEPT("-p1", "--min-time=2s");
	assert_int_equal(o.min_time_ns, 2000000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		REFUSE("with its unit", "-p1", "--min-time", bad[i]);
}

static void values_in_the_same_word(void **state)
{
	ACCEPT("-p12,13", "-Fa", "-vD2", "-fflat");
	assert_int_equal(o.pids_cnt, 2);
	assert_string_equal(o.filters[0], "a");
	assert_true(o.verbose);
	assert_int_equal(o.depth, 2);
	assert_ptr_equal(o.sink, &sink_flat);
}

static void format_by_file_name(void **state)
{
	ACCEPT("-p1", "-o", "/tmp/a.b/out.json");
	assert_ptr_equal(o.sink, &sink_json);
	ACCEPT("-p1", "-o", "x.txt", "-f", "folded");
	assert_ptr_equal(o.sink, &sink_folded);
	ACCEPT("-p1", "-f", "folded", "-o", "x.txt");
	assert_ptr_equal(o.sink, &sink_folded);
	ACCEPT("-p1", "-o", "x.txt");
	assert_ptr_equal(o.sink, &sink_tree);
	ACCEPT("-p1", "-o", "json");
	assert_null(o.sink);
	/* the longest suffix */
	ACCEPT("-p1", "-o", "x.speedscope.json");
	assert_ptr_equal(o.sink, &sink_speedscope);
	ACCEPT("-p1", "-o", "dir/callgrind.out.123");
	assert_ptr_equal(o.sink, &sink_callgrind);
	ACCEPT("-p1", "-o", "x.pb.gz");
	assert_ptr_equal(o.sink, &sink_pprof);
}

static void intervals_need_a_stream(void **state)
{
	REFUSE("-i: a file holds a single profile in the format pprof", "-p1", "-i1", "-f",
	       "pprof");
	REFUSE("format csv", "-p1", "-o", "x.csv", "-i1");
	ACCEPT("-p1", "-i1", "-f", "json", "-o", "x.csv");
}

static void repeated(void **state)
{
	const char *words[MAX_ARGS] = {"-p1"};

	/* the last one counts ... */
	ACCEPT("-p1", "-f", "json", "-f", "tree", "-D1", "-D2", "--color=always", "--color=auto");
	assert_ptr_equal(o.sink, &sink_tree);
	assert_int_equal(o.depth, 2);
	assert_int_equal(o.color, COLOR_AUTO);
	/* ... but patterns add up */
	for (int i = 1; i < 21; i++)
		words[i] = i % 2 ? "-Fin" : "-Nout";
	assert_int_equal(parse(words), 0);
	assert_int_equal(o.filters_cnt, 10);
	assert_int_equal(o.notraces_cnt, 10);
	assert_string_equal(o.filters[9], "in");
	assert_string_equal(o.notraces[9], "out");
}

static void pid_lists(void **state)
{
	ACCEPT("-p", "12,34,12", "-p", "56,34", "-p", "7");
	assert_int_equal(o.pids_cnt, 4);
	assert_int_equal(o.pids[0], 12);
	assert_int_equal(o.pids[1], 34);
	assert_int_equal(o.pids[2], 56);
	assert_int_equal(o.pids[3], 7);
	ACCEPT("-p", "2147483647");
	assert_int_equal(o.pids[0], 2147483647);
	ACCEPT("-p", "0012");
	assert_int_equal(o.pids[0], 12);
}

static void long_pid_lists(void **state)
{
	char list[8 * 5000];
	size_t len = 0;

	for (int i = 1; i <= 4096; i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%d", i > 1 ? "," : "", i);
	ACCEPT("-p", list);
	assert_int_equal(o.pids_cnt, 4096);
	assert_int_equal(o.pids[4095], 4096);
	snprintf(list + len, sizeof(list) - len, ",4097");
	REFUSE("-p", "-p", list);
}

static void bad_pids(void **state)
{
	static const char *const bad[] = {
		"",    "0",  "-1",	   "+1",  "1,",	 ",1",	"1,,2",
		"1 2", " 1", "2147483648", "1;2", "1.5", "1,0", "99999999999999999999"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		REFUSE("-p", "-p", bad[i]);
}

/* `-o "$FILE"` of a variable that is not set is no attempt to open a file. */
static void places_that_are_empty(void **state)
{
	static const char *const verbs[] = {"report", "diff", "agent", "send", "check"};

	REFUSE("-o '': it is empty", "-p1", "-o", "");
	REFUSE("-o '': it is empty", "record", "-p1", "--output=");
	REFUSE("-o '': it is empty", "report", "-o", "", "x");
	REFUSE("--cgroup", "--cgroup", "");
	REFUSE("--to '': it is empty", "send", "--to", "", "x");
	REFUSE("--ca-file '': it is empty", "send", "--to", "https://h", "--ca-file", "", "x");
	REFUSE("--from '': it is empty", "report", "--from", "");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		REFUSE("'': a word that is empty names no file", verbs[i], "");
	/* An empty program or command is looked for, like one that does not exist: status 1. */
	ACCEPT("-x", "");
	ACCEPT("");
	ACCEPT("ls", "");
	ACCEPT("-p1", "-o", "-");
}

static void names(void **state)
{
	ACCEPT("-p", "nginx,12,php*,1x", "-p", "12,Web Content");
	assert_int_equal(o.pids_cnt, 1);
	assert_int_equal(o.names_cnt, 4);
	assert_string_equal(o.names[2], "1x");
	assert_true(o.chosen && o.joins);
	ACCEPT("-p", "12");
	assert_true(o.chosen && !o.joins);
	ACCEPT("--user", "www-data", "--unit", "nginx", "-x", "/bin/sh");
	assert_true(o.joins && !o.pids_cnt);
	REFUSE("exclude each other", "--unit", "a", "--cgroup", "b");
	REFUSE("--user", "--user", "");
	REFUSE("--unit", "--unit", "a", "--unit", "b");
	REFUSE("--user", "--user", "a", "ls");
	REFUSE("--unit does not go with", "report", "--unit", "a");
}

static void bad_values(void **state)
{
	static const char *const bad[][2] = {
		{"-d", "0"},	      {"-d", "-1"},
		{"-d", "x"},	      {"-d", "1s"},
		{"-d", ""},	      {"-d", "nan"},
		{"-d", "inf"},	      {"-d", "1e9"},
		{"-d", "1e-10"},      {"-i", "0"},
		{"-i", "1,5"},	      {"-D", "0"},
		{"-D", "-1"},	      {"-D", "1073741825"},
		{"-D", "2x"},	      {"-D", ""},
		{"-f", "xml"},	      {"-f", ""},
		{"-f", "JSON"},	      {"-w", "bytes"},
		{"--color", "blue"},  {"--color", ""},
		{"--tier", "perf"},   {"--max-paths", "0"},
		{"--max-paths", "x"}, {"--max-paths", "67108865"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		REFUSE(bad[i][0], "-p1", bad[i][0], bad[i][1]);
}

static void limits_of_values(void **state)
{
	ACCEPT("-p1", "-D", "1073741824", "--max-paths", "67108864", "-d", "999999999", "-i",
	       "1e-9");
	assert_int_equal(o.depth, 1 << 30);
	assert_int_equal(o.max_paths, 1 << 26);
	assert_int_equal(o.duration_ns, 999999999ull * 1000000000);
	assert_int_equal(o.interval_ns, 1);
}

static void unknown_options_are_named(void **state)
{
	REFUSE("-Z", "-p1", "-Z");
	REFUSE("--durr", "--pid=12", "--durr");
	REFUSE("--durr", "--pid=12", "--durr", "3");
	REFUSE("-Z", "-Z", "-p", "12");
	REFUSE("-F", "-p1", "-F");
	REFUSE("--list", "-p1", "--list=x", "-v");
}

static void commands(void **state)
{
	ACCEPT("ls");
	assert_ptr_equal(o.command, args + 1);
	ACCEPT("-l", "ls", "-l", "-Z", "--help", "-p", "1", "--");
	assert_true(o.list);
	assert_int_equal(o.pids_cnt, 0);
	assert_ptr_equal(o.command, args + 2);
	assert_string_equal(o.command[6], "--");
	assert_null(o.command[7]);
}

static void commands_behind_dashes(void **state)
{
	ACCEPT("-v", "--", "-odd", "-l");
	assert_ptr_equal(o.command, args + 3);
	assert_string_equal(o.command[0], "-odd");
	assert_string_equal(o.command[1], "-l");
	assert_null(o.command[2]);
	assert_false(o.list);
	ACCEPT("--", "ls", "--", "x");
	assert_ptr_equal(o.command, args + 2);
	assert_string_equal(o.command[1], "--");
}

static void targets(void **state)
{
	ACCEPT("-x", "/lib/libc.so.6");
	assert_string_equal(o.exec, "/lib/libc.so.6");
	ACCEPT("-x", "libc.so.6", "-p", "1,2");
	assert_int_equal(o.pids_cnt, 2);
	REFUSE("whom to trace", "-v");
	REFUSE("whom to trace", "--");
	REFUSE("whom to trace", "-F", "main");
	REFUSE("only one -x", "-x", "/a", "-x", "/b");
	REFUSE("ls", "-p1", "ls");
	REFUSE("commas go between process ids", "-p", "12", "34", "-d", "5");
	REFUSE("ls", "-x", "/a", "--", "ls");
	REFUSE("-q and -v", "-p1", "-qv");
}

static void nothing_at_all(void **state)
{
	assert_refused(parse((const char *const[]){NULL}), "whom to trace");
}

static void help(void **state)
{
	static const char *const mentioned[] = {
		"-p, --pid",	    "-x, --exec",      "-F, --filter",	 "-N, --notrace",
		"-D, --depth",	    "-l, --list",      "-d, --duration", "-i, --interval",
		"--max-paths",	    "--tier",	       "-f, --format",	 "-o, --output",
		"-w, --weight",	    "--thread-frames", "--color",	 "-q, --quiet",
		"-v, --verbose",    "-V, --version",   "-h, --help",	 "CMD [ARGS...]",
		"Usage: proftrace", "--max-overhead",  "--sample-hot",	 "--raw",
		"--min-time",	    "--hist",	       "--reverse",	 "--process-frames",
	};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(PARSE(i ? "--help" : "-h"), 1);
		assert_true(o.help);
		assert_string_equal(err, "");
		for (size_t k = 0; k < sizeof(mentioned) / sizeof(*mentioned); k++) {
			if (!strstr(out, mentioned[k]))
				fail_msg("no \"%s\" in: %s", mentioned[k], out);
		}
	}
	/* whatever follows it */
	assert_int_equal(PARSE("-h", "-Z"), 1);
}

static void help_is_aligned(void **state)
{
	for (const struct argp_option *a = option_table; a->name || a->doc; a++) {
		char shown[256];

		if (!a->name)
			continue;
		snprintf(shown, sizeof(shown), "      --%s%s%s", a->name, a->arg ? "=" : "",
			 a->arg ? a->arg : "");
		if (strlen(shown) > HELP_COLUMNS)
			fail_msg("too long: %s", shown);
	}
	/* A text that ends at the margin is followed by an empty line. */
	assert_int_equal(PARSE("-h"), 1);
	assert_null(strstr(out, " \n"));
}

/* -f is told with the formats that the verb has, not with those of others. */
static void help_has_formats_of_the_verb(void **state)
{
	assert_int_equal(PARSE("report", "-h"), 1);
	assert_non_null(strstr(out, "pprof"));
	assert_int_equal(PARSE("diff", "-h"), 1);
	assert_non_null(strstr(out, "one of tree"));
	assert_null(strstr(out, "pprof"));
	assert_int_equal(PARSE("doctor", "-h"), 1);
	assert_non_null(strstr(out, "text (the default) or"));
	assert_null(strstr(out, "folded"));
}

/* argp knows no verbs, and would put them behind the options. */
static void verbs_come_first(void **state)
{
	assert_int_equal(PARSE("-h"), 1);
	assert_non_null(strstr(out, "  or:  proftrace report [OPTION...] [FILE]\n"));
	REFUSE("report: a verb is the first word", "-v", "report", "x");
	REFUSE("diff: a verb is the first word", "record", "diff");
	ACCEPT("record", "--", "diff");
	ACCEPT("report", "diff");
	assert_string_equal(o.inputs[0], "diff");
}

static void dash_is_the_standard_output(void **state)
{
	ACCEPT("-o", "x", "-o-", "-p", "1");
	assert_null(o.output);
	ACCEPT("report", "-f", "csv", "-o", "-");
	assert_null(o.output);
	ACCEPT("record", "-o", "-", "-p", "1");
	assert_string_equal(o.output, "/dev/fd/1");
	REFUSE("name a file with -o", "report", "-f", "sqlite", "-o", "-");
	REFUSE("ls writes to the standard output as well", "record", "-o", "-", "ls");
}

static void version(void **state)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(PARSE(i ? "--version" : "-V"), 1);
		assert_true(o.help);
		assert_string_equal(out, "proftrace " PROFTRACE_VERSION "\n");
		assert_string_equal(err, "");
	}
}

static void help_on_a_full_disk(void **state)
{
	int saved = dup(STDOUT_FILENO), status;
	FILE *full = fopen("/dev/full", "w");
	char *words[] = {"proftrace", "--version", NULL};

	assert_non_null(full);
	fflush(stdout);
	dup2(fileno(full), STDOUT_FILENO);
	options__clear(&o);
	status = options__parse(&o, 2, words);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	fclose(full);
	clearerr(stdout);
	assert_int_equal(status, 2);
}

static void ranges(void **state)
{
	ACCEPT("report");
	assert_false(o.ranged);
	ACCEPT("report", "--range", "1.5s..2s");
	assert_true(o.ranged);
	assert_int_equal(o.from_ns, 1500000000);
	assert_int_equal(o.to_ns, 2000000000);
	ACCEPT("report", "--range", "..500ms");
	assert_int_equal(o.from_ns, 0);
	assert_int_equal(o.to_ns, 500000000);
	/* Seconds, unless it says what; the dots are no part of a number. */
	ACCEPT("report", "--range", "3..");
	assert_int_equal(o.from_ns, 3000000000);
	assert_true(o.to_ns == UINT64_MAX);
	ACCEPT("report", "--range=0..1e3us");
	assert_int_equal(o.from_ns, 0);
	assert_int_equal(o.to_ns, 1000000);
	ACCEPT("report", "--range", "0.25..1");
	assert_int_equal(o.from_ns, 250000000);
	assert_int_equal(o.to_ns, 1000000000);
	ACCEPT("report", "--range", "..");
	assert_int_equal(o.from_ns, 0);
	assert_true(o.to_ns == UINT64_MAX);
	REFUSE("--range", "report", "--range", "1s");
	REFUSE("--range", "report", "--range", "2s..1s");
	REFUSE("--range", "report", "--range", "1s..1s");
	REFUSE("--range", "report", "--range", "..0");
	REFUSE("--range", "report", "--range", "-1s..2s");
	REFUSE("--range", "report", "--range", "1m..2h");
	REFUSE("--range", "report", "--range", "1s..2s..");
	REFUSE("--range", "report", "--range", "nan..");
	REFUSE("--range", "report", "--range", "..inf");
	REFUSE("--range", "report", "--range", "..1e18");
	REFUSE("--range", "--range", "1..2", "x");
	REFUSE("--range", "record", "--range", "1..2", "x");
	/* A least time of nothing is no filter. */
	REFUSE("--min-time", "--min-time", "0s", "x");
}

static void recordings(void **state)
{
	ACCEPT("record", "-p", "12", "-F", "f", "--append");
	assert_int_equal(o.verb, VERB_RECORD);
	assert_true(o.append);
	assert_string_equal(o.output, "proftrace.data");
	assert_string_equal(o.argv[1], "record");
	ACCEPT("record", "-o", "x", "--", "report", "-f");
	assert_string_equal(o.output, "x");
	assert_string_equal(o.command[0], "report");
	ACCEPT("--", "record", "x");
	assert_int_equal(o.verb, VERB_TRACE);
	assert_string_equal(o.command[0], "record");
	ACCEPT("report");
	assert_int_equal(o.verb, VERB_REPORT);
	assert_string_equal(o.inputs[0], "proftrace.data");
	assert_null(o.output);
	ACCEPT("report", "-f", "json", "x", "--thread", "w*", "--thread", "7", "--run", "3");
	assert_string_equal(o.inputs[0], "x");
	assert_ptr_equal(o.sink, &sink_json);
	assert_int_equal(o.threads_cnt, 2);
	assert_int_equal(o.run, 3);
	REFUSE("whom", "record");
	REFUSE("--format", "record", "-f", "json", "x");
	REFUSE("names the folder", "record", "-i", "1", "x");
	REFUSE("nothing is appended", "record", "-i", "1", "-o", "d", "--append", "x");
	ACCEPT("record", "-i", "1", "-o", "d", "x");
	REFUSE("--pid", "report", "-p", "1");
	REFUSE("--raw", "report", "--raw");
	REFUSE("--append", "--append", "x");
	REFUSE("--thread", "--thread", "1", "x");
	REFUSE("--run", "report", "--run", "0");
	REFUSE("b: report", "report", "a", "b");
	ACCEPT("diff");
	assert_int_equal(o.verb, VERB_DIFF);
	assert_int_equal(o.inputs_cnt, 1);
	assert_string_equal(o.inputs[0], "proftrace.data");
	assert_ptr_equal(o.sink, &sink_tree);
	ACCEPT("diff", "a", "b", "--per-call", "-w", "cpu", "-o", "x.folded");
	assert_string_equal(o.inputs[0], "a");
	assert_string_equal(o.inputs[1], "b");
	assert_true(o.per_call);
	assert_int_equal(o.sink_opts.weight, WEIGHT_CPU);
	assert_ptr_equal(o.sink, &sink_folded);
	REFUSE("c: diff", "diff", "a", "b", "c");
	REFUSE("pprof", "diff", "-f", "pprof", "a", "b");
	REFUSE("folded", "diff", "-f", "perfetto", "a", "b");
	REFUSE("--per-call", "report", "--per-call");
	REFUSE("--reverse", "diff", "--reverse");
}

static void single_calls(void **state)
{
	ACCEPT("record", "x");
	assert_false(o.calls);
	ACCEPT("record", "--calls", "x");
	assert_true(o.calls);
	assert_int_equal(o.buffer_size, 64 << 20);
	assert_int_equal(o.max_size, 0);
	ACCEPT("record", "--calls", "--buffer-size", "2.5M", "--max-size=1g", "x");
	assert_int_equal(o.buffer_size, 5 << 19);
	assert_int_equal(o.max_size, 1 << 30);
	ACCEPT("record", "--calls", "--buffer-size=2048K", "--max-size=1048576", "x");
	assert_int_equal(o.buffer_size, 2 << 20);
	assert_int_equal(o.max_size, 1 << 20);
	/* Formats that show nothing else have them without being told. */
	ACCEPT("-f", "chrome", "x");
	assert_true(o.calls);
	ACCEPT("-o", "x.pftrace", "x");
	assert_true(o.calls);
	ACCEPT("-f", "html", "x");
	assert_false(o.calls);
	ACCEPT("-f", "html", "--calls", "x");
	assert_true(o.calls);
	ACCEPT("report", "-f", "chrome");
	assert_false(o.calls);
	REFUSE("--calls and -i", "--calls", "-i", "1", "x");
	REFUSE("-i", "-f", "chrome", "-i", "1", "x");
	REFUSE("--max-size", "record", "--max-size", "1G", "x");
	REFUSE("--max-size", "--calls", "--max-size", "1G", "x");
	REFUSE("--buffer-size", "--calls", "--buffer-size", "1", "x");
	REFUSE("--buffer-size", "--calls", "--buffer-size", "12X", "x");
	REFUSE("--buffer-size", "--calls", "--buffer-size", "12MB", "x");
	REFUSE("--max-size", "record", "--calls", "--max-size", "-3M", "x");
	REFUSE("--calls", "report", "--calls");
}

static void sessions(void **state)
{
	ACCEPT("--session", "handle*", "--session", "libx.so:run", "--slowest", "5", "--over",
	       "1.5ms", "--link", " submit(req->id)->run( arg1 ) ", "--link",
	       "add(int)(ret) -> take(arg2)", "/bin/true");
	assert_int_equal(o.sessions_cnt, 2);
	assert_string_equal(o.sessions[1], "libx.so:run");
	assert_int_equal(o.slowest, 5);
	assert_int_equal(o.over_ns, 1500000);
	assert_true(o.calls);
	assert_int_equal(o.links_cnt, 2);
	assert_string_equal(o.links[0].submit, "submit");
	assert_string_equal(o.links[0].submit_value, "req->id");
	assert_string_equal(o.links[0].run, "run");
	assert_string_equal(o.links[0].run_value, "arg1");
	assert_string_equal(o.links[1].submit, "add(int)");
	assert_string_equal(o.links[1].submit_value, "ret");
	ACCEPT("report", "--session", "handle");
	assert_int_equal(o.slowest, 10);
	assert_false(o.calls);
}

/* Values that links compare are read, in addition to values that are asked for. */
static void links_want_values(void **state)
{
	ACCEPT("--session", "f", "-A", "submit(arg2:s)", "-A", "x(arg1, arg3:x)", "--link",
	       "submit(arg1) -> run(arg1)", "--link", "submit(arg2)->x(arg3)", "--link",
	       "run(arg1) -> x(arg10)", "/bin/true");
	assert_int_equal(o.arguments_cnt, 3);
	assert_string_equal(o.arguments[0], "submit(arg2:s, arg1)");
	assert_string_equal(o.arguments[1], "x(arg1, arg3:x, arg10)");
	assert_string_equal(o.arguments[2], "run(arg1)");
	ACCEPT("report", "--session", "f", "--link", "submit(arg1) -> run(arg1)");
	assert_int_equal(o.arguments_cnt, 0);
}

static void bad_sessions(void **state)
{
	static const char *const links[] = {"",
					    "submit",
					    "submit(a)",
					    "submit -> run",
					    "submit(a) -> run",
					    "(a) -> run(b)",
					    "submit() -> run(b)",
					    "submit(a) > run(b)"};

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		REFUSE("submit(arg1) -> run(arg1)", "--session", "f", "--link", links[i],
		       "/bin/true");
	}
	REFUSE("add --session", "--slowest", "3", "/bin/true");
	REFUSE("1 to 10000", "--session", "f", "--slowest", "0", "/bin/true");
	REFUSE("10ms", "--session", "f", "--over", "3", "/bin/true");
	REFUSE("-i exclude", "--session", "f", "-i", "1", "/bin/true");
	REFUSE("is for report", "record", "--session", "f", "/bin/true");
	REFUSE("does not go with", "diff", "--session", "f", "a", "b");
}

static void switched_off_at_first(void **state)
{
	ACCEPT("x");
	assert_false(o.paused);
	assert_int_equal(o.skip_ns, 0);
	ACCEPT("--paused", "x");
	assert_true(o.paused);
	ACCEPT("record", "--skip", "1.5s", "-d", "2", "x");
	assert_int_equal(o.skip_ns, 1500000000);
	REFUSE("--skip", "--skip", "5", "x");
	REFUSE("--skip", "--skip", "0s", "x");
	REFUSE("--skip", "--skip=-1s", "x");
	REFUSE("--paused and --skip", "--paused", "--skip", "1s", "x");
	REFUSE("--skip", "--skip", "2s", "-d", "2", "x");
	REFUSE("--paused", "report", "--paused");
	REFUSE("--skip", "diff", "--skip", "1s");
}

/* A user who names lines has chosen: there is no budget, and triggers do not add all functions. */
static void lines(void **state)
{
	ACCEPT("--lines", "parse", "--lines=a.c:1-9", "x");
	assert_int_equal(o.lines_cnt, 2);
	assert_string_equal(o.lines[1], "a.c:1-9");
	assert_true(o.filtered);
	assert_true(o.max_overhead == 0);
	assert_int_equal(o.filters_cnt, 0);
	ACCEPT("--lines", "parse", "--trigger", "run", "x");
	assert_int_equal(o.filters_cnt, 1);
	assert_string_equal(o.filters[0], "run");
}

/* Triggers are traced beside what -F chooses. */
static void triggers(void **state)
{
	ACCEPT("x");
	assert_false(o.filtered);
	assert_int_equal(o.filters_cnt, 0);
	ACCEPT("--trigger", "handle_*", "--trigger=run", "--until", "libc.so.6:abort", "x");
	assert_false(o.filtered);
	assert_true(o.max_overhead > 0);
	assert_int_equal(o.triggers_cnt, 2);
	assert_int_equal(o.untils_cnt, 1);
	assert_int_equal(o.filters_cnt, 3);
	assert_string_equal(o.filters[0], "handle_*");
	assert_string_equal(o.filters[2], "libc.so.6:abort");
	ACCEPT("record", "--until", "stop", "-F", "f", "x");
	assert_true(o.filtered);
	assert_true(o.max_overhead == 0);
	assert_int_equal(o.filters_cnt, 2);
	assert_string_equal(o.filters[0], "f");
	assert_string_equal(o.filters[1], "stop");
	REFUSE("--trigger", "report", "--trigger", "f");
	REFUSE("--until", "diff", "--until", "f");
	REFUSE("--trigger", "--trigger");
}

/* Options that would change nothing are refused, not passed over. */
static void options_that_are_for_nothing(void **state)
{
	static const char *const of_probes[] = {
		"-D3",	 "--follow",	     "--syscalls",     "--exits=none", "--burst=5ms",
		"--raw", "--max-overhead=1", "--tier=session", "--inlines",    "--sample-hot=2"};
	static const char *const of_runs[] = {
		"-Ff", "-Nf", "-D3", "-d1", "-ox", "--calls", "--follow", "--max-overhead=1", "-a"};

	for (size_t i = 0; i < sizeof(of_probes) / sizeof(*of_probes); i++) {
		REFUSE("-a takes samples", "-a", of_probes[i]);
		ACCEPT("top", of_probes[i]);
	}
	ACCEPT("-a", "-d1", "--sample-rate=9", "-fflat", "-wcpu", "--min-time=1ms");
	for (size_t i = 0; i < sizeof(of_runs) / sizeof(*of_runs); i++)
		REFUSE("judged as it is", "check", "--assert=calls(f)<1", of_runs[i], "x.data");
	ACCEPT("check", "--assert=calls(f)<1", "--run=2", "-v", "x.data");
	ACCEPT("check", "--assert=calls(f)<1", "-Ff", "-d1", "-ox", "--", "x");
	REFUSE("--run", "check", "--assert=calls(f)<1", "--run=2", "--", "x");
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults),
		TEST(recordings),
		TEST(single_calls),
		TEST(switched_off_at_first),
		TEST(lines),
		TEST(triggers),
		TEST(options_that_are_for_nothing),
		TEST(ranges),
		TEST(sessions),
		TEST(links_want_values),
		TEST(bad_sessions),
		TEST(short_options),
		TEST(long_options),
		TEST(room_for_paths),
		TEST(exit_strategies),
		TEST(globs_that_are_empty),
		TEST(places_that_are_empty),
		TEST(budgets),
		TEST(what_is_shown),
		TEST(least_times),
		TEST(values_in_the_same_word),
		TEST(format_by_file_name),
		TEST(intervals_need_a_stream),
		TEST(repeated),
		TEST(pid_lists),
		TEST(long_pid_lists),
		TEST(bad_pids),
		TEST(names),
		TEST(bad_values),
		TEST(limits_of_values),
		TEST(unknown_options_are_named),
		TEST(commands),
		TEST(commands_behind_dashes),
		TEST(targets),
		TEST(nothing_at_all),
		TEST(help),
		TEST(help_is_aligned),
		TEST(help_has_formats_of_the_verb),
		TEST(verbs_come_first),
		TEST(dash_is_the_standard_output),
		TEST(version),
		TEST(help_on_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
