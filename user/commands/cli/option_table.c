// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_table.h"

#include "cli/options.h"

const char option_table_doc[] =
	"Trace the functions of a native program: exact call counts and times for each call path "
	"and "
	"thread.\v"
	"Whom to trace: live processes (-p, --unit, --cgroup, --container, --user: of several all "
	"must "
	"hold), every process that maps a file (-x), or a command.\n"
	"A GLOB is FUNC (of the main program, with -x of PATH) or OBJECT:FUNC (of the files with "
	"that "
	"name). Without -F every function of the main program is traced.\n"
	"SIGINT (Ctrl-C) stops tracing and writes the result; SIGUSR1 switches it off and on, and "
	"SIGUSR2 writes what there is so far.\n"
	"record keeps all that was found in a file, " RECORDING " or that of -o; report shows what "
	"such a file holds, in any format and on any machine, and diff what has changed from one "
	"to "
	"another. top shows on the whole screen what is called meanwhile. check tells by its exit "
	"status, 3, whether something does not hold of a run. send gives recordings to a database. "
	"agent records all the time what a configuration names. "
	"doctor tells what works on this machine. "
	"A command of one of these names goes behind --.";

/* argp sorts by the last member, the group: each heading has a number of its own, and the options
 * below it, with 0, are of that group as well.
 * An option is shown in HELP_COLUMNS at most. Behind longer ones glibc begins a new line, and where
 * its buffer of 200 bytes ends there, it indents the wrong one of the two. */
const struct argp_option option_table[] = {
	{0, 0, 0, 0, "Target:", 1},
	{"pid", 'p', "NAME|PID[,...]", 0,
	 "trace the processes of that name (a glob), also those that start later, or that number",
	 0},
	{"unit", OPT_UNIT, "NAME", 0, "trace the processes of this unit of systemd's", 0},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "trace the processes in this control group, a path below /sys/fs/cgroup, and below it", 0},
	{"container", OPT_CONTAINER, "ID|NAME", 0, "trace the processes of this container", 0},
	{"user", OPT_USER, "NAME|UID", 0, "trace the processes of this user", 0},
	{"all", 'a', 0, 0,
	 "look at all processes of the machine, from samples of CPU time alone (97 a second and "
	 "CPU): nothing is probed",
	 0},
	{"exec", 'x', "PATH", 0,
	 "trace every process that maps PATH (a program or a shared library) now or later; with "
	 "-p: "
	 "only PATH's functions in those processes",
	 0},
	{"follow", OPT_FOLLOW, 0, 0,
	 "trace the programs that child processes start as well; by default children that are "
	 "forked are traced until they start one",
	 0},
	{"no-children", OPT_NO_CHILDREN, 0, 0, "do not trace child processes", 0},
	{0, 0, 0, 0, "Functions:", 2},
	{"filter", 'F', "GLOB", 0, "trace only functions that match; may be repeated", 0},
	{"notrace", 'N', "GLOB", 0, "leave out functions that match; may be repeated", 0},
	{"usdt", OPT_USDT, "PROVIDER:NAME", 0,
	 "trace static probes of others (globs) as well, also of one file ([OBJECT:]): those that "
	 "are named as a pair, or given as 'BEGIN -> END', as regions, the rest as marks; may be "
	 "repeated",
	 0},
	{"args", 'A', "FUNC(arg1,...,ret)", 0,
	 "keep values of single calls (implies --calls): arguments, the result, or what lies "
	 "behind "
	 "them, as arg2, arg3:s, arg1+16:u32, ret, or by name (req, req->id); may be repeated",
	 0},
	{"if", OPT_IF, "[FUNC:] VALUE > N", 0,
	 "record only calls with such values, as 'arg2 > 4096'; may be repeated", 0},
	{"lines", OPT_LINES, "FUNC|FILE:FROM-TO", 0,
	 "count how often lines of source run, and how long: those of functions that match, or of "
	 "a "
	 "file; traces only the functions that they are in, without -F; may be repeated",
	 0},
	{"callers", OPT_CALLERS, 0, 0,
	 "show who has called, untraced: the stack above each call is unwound", 0},
	{"syscalls", OPT_SYSCALLS, 0, 0,
	 "trace system calls as well, below what makes them: how often they fail, by which error, "
	 "and which files and connections they are about",
	 0},
	{"depth", 'D', "N", 0, "trace N levels: 1 is only the outermost calls", 0},
	{"trigger", OPT_TRIGGER, "GLOB", 0,
	 "record only calls of functions that match, and what they call; may be repeated", 0},
	{"until", OPT_UNTIL, "GLOB", 0,
	 "stop when a function that matches is called: with --trigger, on its thread until the "
	 "next one; else switch tracing off; may be repeated",
	 0},
	{"exits", OPT_EXITS, "HOW", 0,
	 "how the ends of calls are seen: by return probes (return), by probes on each exit "
	 "(sites), or by what happens next (none); default: the cheapest that is safe for each "
	 "function (auto)",
	 0},
	{"list", 'l', 0, 0, "print what would be probed, and how; attach nothing", 0},
	{0, 0, 0, 0, "Run:", 3},
	{"duration", 'd', "SEC", 0, "stop after SEC seconds", 0},
	{"interval", 'i', "SEC", 0,
	 "write what is new every SEC seconds; record: to a file of its own, in the folder of -o",
	 0},
	{"serve", OPT_SERVE, "[ADDR:]PORT", 0,
	 "show what was found so far in browsers, as a page that is live (PORT 0: a free one; "
	 "ADDR: "
	 "this "
	 "machine alone, without it); -i is how often it changes (default: each second)",
	 0},
	{"no-token", OPT_NO_TOKEN, 0, 0,
	 "--serve: everybody who reaches the address may look, also without the token in it", 0},
	{"paused", OPT_PAUSED, 0, 0,
	 "begin with tracing switched off: SIGUSR1 switches it on, and off again", 0},
	{"skip", OPT_SKIP, "T", 0, "begin with tracing switched off, for T: 500ms, 10s", 0},
	{"max-overhead", OPT_MAX_OVERHEAD, "PCT|none", 0,
	 "budget: probes may cost PCT percent of the target's CPU time; functions that cost most "
	 "and "
	 "tell least are dropped for it (default: 5 without -F, else none)",
	 0},
	{"sample-hot", OPT_SAMPLE_HOT, "N", 0,
	 "keep one call in N of a function that was dropped, scaled and marked as an estimate", 0},
	{"burst", OPT_BURST, "T", 0,
	 "probe dropped functions for T now and then (default: 5ms, where there is a budget; from "
	 "1ms to 100ms): their calls, paths and latencies are estimated from that, and marked ~",
	 0},
	{"no-bursts", OPT_NO_BURSTS, 0, 0,
	 "do not: dropped functions have only the calls up to their drop", 0},
	{"max-paths", OPT_MAX_PATHS, "N", 0,
	 "room for N call paths (default 1048576, and 262144 where a budget is kept for a minute "
	 "at most; 64 bytes each)",
	 0},
	{"tier", OPT_TIER, "NAME", 0,
	 "attach by session (Linux 6.13), uprobe_multi (6.6), trace_event (6.0) or "
	 "trace_event_basic (5.10); default: the best that works",
	 0},
	{"calls", OPT_CALLS, 0, 0,
	 "keep each single call, for timelines: with record, or in formats that show them", 0},
	{"buffer-size", OPT_BUFFER_SIZE, "SIZE", 0,
	 "memory for single calls until they are written (default 64M)", 0},
	{"append", OPT_APPEND, 0, 0, "record: add a run to the file", 0},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "record --calls: the file grows no larger; the oldest calls go", 0},
	{"slo", OPT_SLO, "'GLOB: p99 < T'", 0,
	 "record: watch how long calls of these functions take, and make a recording of the "
	 "slowest "
	 "where avg, p50, p90, p99 or max of a second is not below T, in the folder of -o; until "
	 "then nothing else is traced; may be repeated",
	 0},
	{"slo-window", OPT_SLO_WINDOW, "T", 0, "--slo: judge so much at a time (default: 1s)", 0},
	{"on-slow", OPT_ON_SLOW, "CMD", 0,
	 "--slo: run CMD, words divided by blanks, with the name of each recording behind them", 0},
	{0, 0, 0, 0, "report and diff (as well as -F, -N, -D and what follows):", 4},
	{"thread", OPT_THREAD, "GLOB|TID", 0,
	 "only threads with such a name or number; may be repeated", 0},
	{"range", OPT_RANGE, "FROM..TO", 0,
	 "only this part of the run, of a recording with single calls: 1.5s..2s, ..500ms, 3..", 0},
	{"run", OPT_RUN, "N", 0,
	 "the run to look at, 1 being the oldest (default: the last); diff with a single file "
	 "compares "
	 "it with the one before",
	 0},
	{"per-call", OPT_PER_CALL, 0, 0,
	 "diff: compare what calls take, for runs of different length", 0},
	{0, 0, 0, 0, "check:", 5},
	{"assert", OPT_ASSERT, "'WHAT(GLOB) < N'", 0,
	 "what is to hold: calls, total or self of all functions that match together, or avg, p50, "
	 "p90, p99 or max of each; < <= > >= ==; a number of calls or a time: "
	 "'p99(handle_*) < 5ms'; may be repeated",
	 0},
	{0, 0, 0, 0, "send; and report and diff of a database:", 6},
	{"to", OPT_TO, "URL", 0,
	 "send: clickhouse://HOST/DATABASE, with the tables of docs/fleet/clickhouse.sql, "
	 "pyroscope+http://HOST, parca+http://HOST or otlp+http://HOST; clickhouses:// and https "
	 "by TLS. The "
	 "password of USER@HOST is taken from $PROFTRACE_SECRET",
	 0},
	{"service", OPT_SERVICE, "NAME", 0,
	 "send: what the profile is of (default: the program's name)", 0},
	{"service-version", OPT_SERVICE_VERSION, "TEXT", 0, "send: of that service", 0},
	{"host", OPT_HOST, "NAME", 0, "send: where it was recorded, in place of the machine's name",
	 0},
	{"from", OPT_FROM, "URL", 0,
	 "report and diff: of what a database of profiles holds: clickhouse://HOST/DATABASE", 0},
	{"where", OPT_WHERE, "SQL", 0,
	 "with --from: of which profiles: \"service = 'api' and time > now() - 3600\"; by service, "
	 "version, host, kernel and time; diff has two, the old profiles first",
	 0},
	{"ca-file", OPT_CA_FILE, "FILE", 0, "trust these certificates (PEM), not the system's", 0},
	{0, 0, 0, 0, "agent:", 7},
	{"check", OPT_CHECK, 0, 0, "tell what is wrong in the configuration, line by line, and end",
	 0},
	{0, 0, 0, 0,
	 "Sessions (live with --calls; report, send: recordings with single calls):", 8},
	{"session", OPT_SESSION, "GLOB", 0,
	 "each outermost call of a matching function is a session; may be repeated (in top the "
	 "key s shows them)",
	 0},
	{"slowest", OPT_SLOWEST, "N", 0, "keep the N slowest as a whole (default 10)", 0},
	{"over", OPT_OVER, "T", 0, "keep those that took longer than T as well: 500us, 10ms", 0},
	{"link", OPT_LINK, "'SUB(V) -> RUN(V)'", 0,
	 "a call of RUN continues the session of the call of SUB with the same value, as "
	 "'submit(arg1) -> run(arg1)'; may be repeated",
	 0},
	{"session-id", OPT_SESSION_ID, "VALUE", 0,
	 "the application's own id of a session: a value of its call, as of -A: arg2, req->id, "
	 "arg1:s; a trace id of the W3C's, or a traceparent, is known as such; otel: the trace of "
	 "OpenTelemetry's thread context (the default where a program publishes one)",
	 0},
	{"trace-id", OPT_TRACE_ID, "POINTER", 0,
	 "the same, where the 16 bytes of a trace id lie in memory: arg1+16", 0},
	{0, 0, 0, 0, "Result:", 9},
	{"by", OPT_BY, "VALUE", 0,
	 "tell calls apart by this value of -A, as functions of their own: f(arg1=5)", 0},
	{"format", 'f', "FMT", 0,
	 "the form of the result; default: what the name of -o's FILE ends in, else tree on a "
	 "terminal and folded otherwise. FMT is one of ",
	 0},
	{"output", 'o', "FILE", 0, "write the result to FILE instead of stdout", 0},
	{"weight", 'w', "WHAT", 0,
	 "what folded stacks weigh: nanoseconds (wall, the default), those on a CPU (cpu), those "
	 "off it (off), or calls",
	 0},
	{"reverse", OPT_REVERSE, 0, 0,
	 "folded stacks begin with the innermost function; with -w off: with what has waited", 0},
	{"min-time", OPT_MIN_TIME, "T", 0,
	 "leave out what took less than T in total: 500ns, 10us, 1.5ms, 2s", 0},
	{"hist", OPT_HIST, "GLOB", 0,
	 "tree, flat: draw how long the calls of matching functions took; may be repeated", 0},
	{"no-samples", OPT_NO_SAMPLES, 0, 0,
	 "do not look where CPU time goes outside traced functions", 0},
	{"sample-rate", OPT_SAMPLE_RATE, "N", 0,
	 "look N times a second on each CPU where CPU time goes, also in functions without probes "
	 "and in the kernel, and show that in the tree, marked ~ (default: 97 to 997 within a "
	 "budget, by what a sample costs, else 0)",
	 0},
	{"inlines", OPT_INLINES, 0, 0,
	 "name functions that are inlined where samples meet them, by debug information, however "
	 "long that takes to read (default: where it takes little)",
	 0},
	{"no-inlines", OPT_NO_INLINES, 0, 0,
	 "do not: code belongs to the function that it is part of", 0},
	{"raw", OPT_RAW, 0, 0, "leave what the probes cost in all times", 0},
	{"thread-frames", OPT_THREAD_FRAMES, 0, 0,
	 "keep threads apart: folded stacks begin with comm-pid/tid, trees are per thread", 0},
	{"color", OPT_COLOR, "auto|always|never", 0,
	 "colours (default: on a terminal, unless NO_COLOR is set)", 0},
	{"no-pager", OPT_NO_PAGER, 0, 0,
	 "do not show what is longer than the terminal in a pager ($PROFTRACE_PAGER, $PAGER or "
	 "less)",
	 0},
	{"quiet", 'q', 0, 0, "print errors only", 0},
	{"verbose", 'v', 0, 0, "say more; leave nothing out of trees and tables", 0},
	{"completion", OPT_COMPLETION, "bash|zsh|fish", 0,
	 "print the script by which that shell completes command lines", -1},
	{"version", 'V', 0, 0, "print the version", -1},
	{"help", 'h', 0, 0, "print this help", -1},
	{0},
};

const char *option_table__name(int key)
{
	for (const struct argp_option *a = option_table; a->name || a->doc; a++) {
		if (a->name && a->key == key)
			return a->name;
	}
	return "?";
}
