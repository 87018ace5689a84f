// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_table.h"

#include "cli/options.h"

const char option_table_doc[] =
	"Trace the functions of a native program: exact call counts and times for each call "
	"path and thread.\v"
	"Targets are live processes (-p, --unit, --cgroup, --container, --user; a process "
	"must meet all that are given), every process that maps a file (-x), or a command.\n"
	"A GLOB is FUNC (a function of the main program, with -x of PATH) or OBJECT:FUNC (of "
	"the files with that name). Without -F every function of the main program is "
	"traced.\n"
	"SIGINT (Ctrl-C) stops tracing and writes the result; SIGUSR1 switches tracing off "
	"and on, and SIGUSR2 writes the result so far.\n"
	"Verbs: record keeps the result in a file, " RECORDING " or that of -o; report shows "
	"such a file, in any format and on any machine; diff compares two of them; top shows "
	"live on the whole screen which functions are called; check tells by exit status 3 "
	"that an assertion about a run does not hold; send puts recordings into a database; "
	"agent records services all the time, as a configuration says; doctor tells what "
	"works on this machine. To trace a command that has one of these names, put -- before"
	" it.";

/* argp sorts by the last member, the group: each heading has a number of its own, and the options
 * below it, with 0, are of that group as well.
 * An option is shown in HELP_COLUMNS at most. Behind longer ones glibc begins a new line, and where
 * its buffer of 200 bytes ends there, it indents the wrong one of the two. */
const struct argp_option option_table[] = {
	{0, 0, 0, 0, "Target:", 1},
	{"pid", 'p', "NAME|PID[,...]", 0,
	 "trace the processes of that name (a glob), also those that start later, or the process "
	 "of that number",
	 0},
	{"unit", OPT_UNIT, "NAME", 0, "trace the processes of this systemd unit", 0},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "trace the processes in this control group (a path below /sys/fs/cgroup) and in the "
	 "groups below it",
	 0},
	{"container", OPT_CONTAINER, "ID|NAME", 0, "trace the processes of this container", 0},
	{"user", OPT_USER, "NAME|UID", 0, "trace the processes of this user", 0},
	{"all", 'a', 0, 0,
	 "look at all processes of the machine, from samples of CPU time alone (97 a second on "
	 "each CPU); nothing is probed",
	 0},
	{"exec", 'x', "PATH", 0,
	 "trace every process that maps PATH (a program or a shared library) now or later; with "
	 "-p: trace only PATH's functions, in those processes",
	 0},
	{"follow", OPT_FOLLOW, 0, 0,
	 "trace the programs that child processes start as well; without it, forked children are "
	 "traced until they start another program",
	 0},
	{"no-children", OPT_NO_CHILDREN, 0, 0, "do not trace child processes", 0},
	{0, 0, 0, 0, "Functions:", 2},
	{"filter", 'F', "GLOB", 0, "trace only functions that match; may be repeated", 0},
	{"notrace", 'N', "GLOB", 0, "leave out functions that match; may be repeated", 0},
	{"usdt", OPT_USDT, "PROVIDER:NAME", 0,
	 "also trace static probes of other programs (globs; [OBJECT:] before them names a file): "
	 "pairs, recognized by their names or given as 'BEGIN -> END', are regions, all others "
	 "are marks; may be repeated",
	 0},
	{"args", 'A', "FUNC(arg1,...,ret)", 0,
	 "keep values of single calls (implies --calls): arguments, the result, or memory that "
	 "they point to, for instance arg2, arg3:s, arg1+16:u32, ret, or by name req, req->id; "
	 "may be repeated",
	 0},
	{"if", OPT_IF, "[FUNC:] VALUE > N", 0,
	 "record only calls whose value meets the condition, for instance 'arg2 > 4096'; may be "
	 "repeated",
	 0},
	{"lines", OPT_LINES, "FUNC|FILE:FROM-TO", 0,
	 "count how often lines of source run, and how long: the lines of functions that match, "
	 "or of a file; without -F only the functions that contain them are traced; may be "
	 "repeated",
	 0},
	{"callers", OPT_CALLERS, 0, 0,
	 "show the callers of each call, also those that are not traced: its stack is unwound", 0},
	{"syscalls", OPT_SYSCALLS, 0, 0,
	 "also trace system calls, below the functions that make them: how often they fail, with "
	 "which errors, and which files and connections they are about",
	 0},
	{"depth", 'D', "N", 0, "trace N levels of calls; 1 means only the outermost calls", 0},
	{"trigger", OPT_TRIGGER, "GLOB", 0,
	 "record only calls of functions that match, and what these call; may be repeated", 0},
	{"until", OPT_UNTIL, "GLOB", 0,
	 "stop when a function that matches is called: with --trigger, on its thread until the "
	 "next trigger; without, switch tracing off; may be repeated",
	 0},
	{"exits", OPT_EXITS, "HOW", 0,
	 "how the ends of calls are seen: by return probes (return), by probes on each exit "
	 "(sites), or by the thread's next event (none); default: for each function the cheapest "
	 "way that is safe (auto)",
	 0},
	{"list", 'l', 0, 0, "print what would be probed, and how; attach nothing", 0},
	{0, 0, 0, 0, "Run:", 3},
	{"duration", 'd', "SEC", 0, "stop after SEC seconds", 0},
	{"interval", 'i', "SEC", 0,
	 "write what is new every SEC seconds; record: to a file of its own, in the folder of -o",
	 0},
	{"serve", OPT_SERVE, "[ADDR:]PORT", 0,
	 "show what was found so far in browsers, as a live page; PORT 0 takes a free port; "
	 "without ADDR only this machine is served; -i says how often the page changes (default: "
	 "each second)",
	 0},
	{"no-token", OPT_NO_TOKEN, 0, 0,
	 "let everybody who reaches the address look, also without the token in it (with --serve)",
	 0},
	{"paused", OPT_PAUSED, 0, 0,
	 "begin with tracing switched off; SIGUSR1 switches it on, and off again", 0},
	{"skip", OPT_SKIP, "T", 0, "begin with tracing switched off for this time: 500ms, 10s", 0},
	{"max-overhead", OPT_MAX_OVERHEAD, "PCT|none", 0,
	 "keep to this budget: tracing may cost PCT percent of the target's CPU time; functions "
	 "that cost most and tell least are dropped (default: 5 without -F, else none)",
	 0},
	{"sample-hot", OPT_SAMPLE_HOT, "N", 0,
	 "keep one call in N of each dropped function; its figures are multiplied by N and marked "
	 "as estimates",
	 0},
	{"burst", OPT_BURST, "T", 0,
	 "probe dropped functions for this time now and then, to estimate their calls, paths and "
	 "latencies (marked ~); from 1ms to 100ms (default: 5ms where there is a budget)",
	 0},
	{"no-bursts", OPT_NO_BURSTS, 0, 0,
	 "take no bursts; dropped functions have only the calls up to their drop", 0},
	{"max-paths", OPT_MAX_PATHS, "N", 0,
	 "make room for N call paths, of 64 bytes each (default: 1048576; 262144 where a budget "
	 "is kept for a minute at most)",
	 0},
	{"tier", OPT_TIER, "NAME", 0,
	 "attach by this backend: session (Linux 6.13), uprobe_multi (6.6), trace_event (6.0) or "
	 "trace_event_basic (5.10); default: the best that works",
	 0},
	{"calls", OPT_CALLS, 0, 0,
	 "keep each single call, for timelines; with record, or in formats that show single calls",
	 0},
	{"buffer-size", OPT_BUFFER_SIZE, "SIZE", 0,
	 "memory for single calls until they are written (default: 64M)", 0},
	{"append", OPT_APPEND, 0, 0, "add a run to the file (with record)", 0},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "let the file grow no larger: the oldest calls are removed (with record --calls)", 0},
	{"slo", OPT_SLO, "'GLOB: p99 < T'", 0,
	 "watch how long calls of these functions take (with record), and trace nothing else, "
	 "until avg, p50, p90, p99 or max of a second is not below T; then record the single "
	 "calls in the folder of -o; may be repeated",
	 0},
	{"slo-window", OPT_SLO_WINDOW, "T", 0,
	 "the time that is judged at once (with --slo; default: 1s)", 0},
	{"on-slow", OPT_ON_SLOW, "CMD", 0,
	 "run this command for each recording (with --slo), with the recording's name as the last "
	 "word; blanks divide CMD into words",
	 0},
	{0, 0, 0, 0, "report and diff (as well as -F, -N, -D and what follows):", 4},
	{"thread", OPT_THREAD, "GLOB|TID", 0,
	 "show only threads with such a name or number; may be repeated", 0},
	{"range", OPT_RANGE, "FROM..TO", 0,
	 "show only this part of the run: 1.5s..2s, ..500ms, 3.. (needs single calls)", 0},
	{"run", OPT_RUN, "N", 0,
	 "the run to look at, 1 being the oldest (default: the last); diff with a single file "
	 "compares it with the run before",
	 0},
	{"per-call", OPT_PER_CALL, 0, 0,
	 "compare what each call takes (with diff), for runs of different length", 0},
	{0, 0, 0, 0, "check:", 5},
	{"assert", OPT_ASSERT, "'WHAT(GLOB) < N'", 0,
	 "what must hold: calls, total or self (the sum over all functions that match), or avg, "
	 "p50, p90, p99 or max (of each of them); < <= > >= ==; a number of calls or a time: "
	 "'p99(handle_*) < 5ms'; may be repeated",
	 0},
	{0, 0, 0, 0, "send; and report and diff of a database:", 6},
	{"to", OPT_TO, "URL", 0,
	 "send to this URL: clickhouse://HOST/DATABASE (docs/fleet/clickhouse.sql makes its "
	 "tables), pyroscope+http://HOST, parca+http://HOST or otlp+http://HOST; clickhouses:// "
	 "and https use TLS; the password of USER@HOST is taken from $PROFTRACE_SECRET",
	 0},
	{"service", OPT_SERVICE, "NAME", 0,
	 "the service that the profile is of (with send; default: the program's name)", 0},
	{"service-version", OPT_SERVICE_VERSION, "TEXT", 0,
	 "the version of that service (with send)", 0},
	{"host", OPT_HOST, "NAME", 0,
	 "where the profile was recorded (with send; default: the machine's name)", 0},
	{"from", OPT_FROM, "URL", 0,
	 "read this database of profiles (with report and diff): clickhouse://HOST/DATABASE", 0},
	{"where", OPT_WHERE, "SQL", 0,
	 "take the profiles that meet this condition (with --from), for instance \"service = "
	 "'api' and time > now() - 3600\"; by service, version, host, kernel and time; diff takes "
	 "two, the old profiles first",
	 0},
	{"ca-file", OPT_CA_FILE, "FILE", 0,
	 "trust these certificates (PEM) in place of the system's", 0},
	{0, 0, 0, 0, "agent:", 7},
	{"check", OPT_CHECK, 0, 0,
	 "report what is wrong in the configuration, line by line, and end", 0},
	{0, 0, 0, 0,
	 "Sessions (live with --calls; report, send: recordings with single calls):", 8},
	{"session", OPT_SESSION, "GLOB", 0,
	 "take each outermost call of a matching function as a session; may be repeated (in top "
	 "the key s shows sessions)",
	 0},
	{"slowest", OPT_SLOWEST, "N", 0,
	 "keep the N slowest sessions with all their calls (default: 10)", 0},
	{"over", OPT_OVER, "T", 0, "also keep the sessions that took longer than T: 500us, 10ms",
	 0},
	{"link", OPT_LINK, "'SUB(V) -> RUN(V)'", 0,
	 "continue a session in the thread that runs submitted work: a call of RUN belongs to the "
	 "session of the call of SUB with the same value, for instance 'submit(arg1) -> "
	 "run(arg1)'; may be repeated",
	 0},
	{"session-id", OPT_SESSION_ID, "VALUE", 0,
	 "show the application's own id of each session: a value of its call as of -A (arg2, "
	 "req->id, arg1:s), which may be a W3C trace id or traceparent; or otel, the trace in "
	 "OpenTelemetry's thread context (the default where a program publishes one)",
	 0},
	{"trace-id", OPT_TRACE_ID, "POINTER", 0,
	 "take the session's trace id from memory where its 16 bytes lie: arg1+16", 0},
	{0, 0, 0, 0, "Result:", 9},
	{"by", OPT_BY, "VALUE", 0,
	 "tell calls apart by this value of -A, as functions of their own: f(arg1=5)", 0},
	{"format", 'f', "FMT", 0,
	 "the form of the result (default: what the name of -o's FILE ends in, else tree on a "
	 "terminal and folded otherwise); FMT is one of ",
	 0},
	{"output", 'o', "FILE", 0, "write the result to FILE instead of standard output", 0},
	{"weight", 'w', "WHAT", 0,
	 "what folded stacks and graphs weigh, and what trees and flat lists show and are sorted "
	 "by: nanoseconds of wall time (wall, the default), of time on a CPU (cpu, the default of "
	 "trees, lists, svg and html where there are samples) or off it (off), or calls",
	 0},
	{"reverse", OPT_REVERSE, 0, 0,
	 "begin folded stacks with the innermost function; with -w off: with the function that "
	 "waited",
	 0},
	{"min-time", OPT_MIN_TIME, "T", 0,
	 "leave out functions and paths that took less than T in total: 500ns, 10us, 1.5ms, 2s", 0},
	{"hist", OPT_HIST, "GLOB", 0,
	 "draw how long the calls of matching functions took (with tree and flat); may be repeated",
	 0},
	{"no-samples", OPT_NO_SAMPLES, 0, 0,
	 "do not look where CPU time goes outside of traced functions", 0},
	{"sample-rate", OPT_SAMPLE_RATE, "N", 0,
	 "look N times a second on each CPU where CPU time goes, also in functions without probes "
	 "and in the kernel, and show that in the tree, marked ~ (default: with a budget 97 to "
	 "997, depending on what a sample costs; else 0)",
	 0},
	{"inlines", OPT_INLINES, 0, 0,
	 "name inlined functions that samples meet, however long their debug information takes to "
	 "read (default: only where that is quick)",
	 0},
	{"no-inlines", OPT_NO_INLINES, 0, 0,
	 "do not name inlined functions; their code belongs to the function that it is part of", 0},
	{"raw", OPT_RAW, 0, 0, "leave the cost of probes in all times", 0},
	{"process-frames", OPT_PROCESS_FRAMES, 0, 0,
	 "keep processes apart: folded stacks begin with comm-pid, and trees are by process "
	 "(default: processes of one name are one tree)",
	 0},
	{"thread-frames", OPT_THREAD_FRAMES, 0, 0,
	 "keep threads apart: folded stacks begin with comm-pid/tid, and trees are by thread", 0},
	{"color", OPT_COLOR, "auto|always|never", 0,
	 "use colours (default: on a terminal, unless NO_COLOR is set)", 0},
	{"no-pager", OPT_NO_PAGER, 0, 0,
	 "do not use a pager ($PROFTRACE_PAGER, $PAGER or less) for results that are longer than "
	 "the terminal",
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
