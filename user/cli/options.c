// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/values.h"
#include "util/array.h"
#include "util/log.h"

#define DEFAULT_MAX_PATHS (1u << 20)
#define MAX_MAX_PATHS	  (1u << 26)
#define MAX_PIDS	  4096
#define MAX_SAMPLE_HOT	  1000000
#define FORMAT_NAMES	  256
/* In percent of the target's own CPU time. All functions of a program may be more than it bears;
 * who names functions wants them. */
#define DEFAULT_MAX_OVERHEAD 5.0
#define OVERHEAD_NOT_GIVEN   -1.0
#define RECORDING	     "proftrace.data" /* unless another one is named */
#define MAX_RUN		     1000000
#define DEFAULT_BUFFER	     (64ull << 20)
#define MIN_BUFFER	     (1ull << 20)
#define MIN_MAX_SIZE	     (1ull << 20)
#define DEFAULT_SLOWEST	     10
#define MAX_SLOWEST	     10000

enum {
	OPT_COLOR = 256,
	OPT_THREAD_FRAMES,
	OPT_MAX_PATHS,
	OPT_TIER,
	OPT_FOLLOW,
	OPT_EXITS,
	OPT_MAX_OVERHEAD,
	OPT_SAMPLE_HOT,
	OPT_RAW,
	OPT_MIN_TIME,
	OPT_HIST,
	OPT_REVERSE,
	OPT_APPEND,
	OPT_THREAD,
	OPT_RUN,
	OPT_CALLS,
	OPT_MAX_SIZE,
	OPT_BUFFER_SIZE,
	OPT_RANGE,
	OPT_PER_CALL,
	OPT_SESSION,
	OPT_SLOWEST,
	OPT_OVER,
	OPT_LINK,
	OPT_PAUSED,
	OPT_SKIP,
	OPT_IF,
	OPT_TRIGGER,
	OPT_UNTIL,
	OPT_BY,
	OPT_USDT,
	OPT_LINES,
};

static const char doc[] =
	"Trace the functions of a native program: exact call counts and times for each call path "
	"and "
	"thread.\v"
	"Whom to trace: live processes (-p), every process that maps a file (-x), or a command.\n"
	"A GLOB is FUNC (of the main program, with -x of PATH) or OBJECT:FUNC (of the files with "
	"that "
	"name). Without -F every function of the main program is traced.\n"
	"SIGINT (Ctrl-C) stops tracing and writes the result; SIGUSR1 switches it off and on, and "
	"SIGUSR2 writes what there is so far.\n"
	"record keeps all that was found in a file, " RECORDING " or that of -o; report shows what "
	"such a file holds, in any format and on any machine, and diff what has changed from one "
	"to "
	"another. "
	"A command of one of these names goes behind --.";

static const char args_doc[] = "-p PID[,PID...]\n-x PATH\n[--] CMD [ARGS...]\n"
			       "record ...\nreport [FILE]\ndiff [OLD [NEW]]";

static const struct argp_option argp_options[] = {
	{0, 0, 0, 0, "Target:", 1},
	{"pid", 'p', "PID[,PID...]", 0, "trace these live processes, with all their threads", 0},
	{"exec", 'x', "PATH", 0,
	 "trace every process that maps PATH (a program or a shared library) now or later; with "
	 "-p: "
	 "only PATH's functions in those processes",
	 0},
	{"follow", OPT_FOLLOW, 0, 0, "trace child processes as well, and the programs they start",
	 0},
	{0, 0, 0, 0, "Functions:", 2},
	{"filter", 'F', "GLOB", 0, "trace only functions that match; may be repeated", 0},
	{"notrace", 'N', "GLOB", 0, "leave out functions that match; may be repeated", 0},
	{"usdt", OPT_USDT, "[OBJECT:]PROVIDER:NAME", 0,
	 "trace static probes of others (globs) as well: those that are named as a pair, or given "
	 "as 'BEGIN -> END', as regions, the rest as marks; may be repeated",
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
	{"depth", 'D', "N", 0, "trace N levels: 1 is only the outermost calls", 0},
	{"trigger", OPT_TRIGGER, "GLOB", 0,
	 "record only calls of functions that match, and what they call; may be repeated", 0},
	{"until", OPT_UNTIL, "GLOB", 0,
	 "stop when a function that matches is called: with --trigger, on its thread until the "
	 "next one; else switch tracing off; may be repeated",
	 0},
	{"exits", OPT_EXITS, "auto|return|sites|none", 0,
	 "how the ends of calls are seen: by return probes, by probes on each exit, or by what "
	 "happens next; default: the cheapest that is safe for each function",
	 0},
	{"list", 'l', 0, 0, "print what would be probed, and how; attach nothing", 0},
	{0, 0, 0, 0, "Run:", 3},
	{"duration", 'd', "SEC", 0, "stop after SEC seconds", 0},
	{"interval", 'i', "SEC", 0, "write what is new every SEC seconds", 0},
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
	{"max-paths", OPT_MAX_PATHS, "N", 0,
	 "room for N call paths (default 1048576; 64 bytes each)", 0},
	{"tier", OPT_TIER, "NAME", 0,
	 "attach by session links (Linux 6.13) or uprobe_multi links (6.6); default: the best that "
	 "works",
	 0},
	{"calls", OPT_CALLS, 0, 0,
	 "keep each single call, for timelines: with record, or in formats that show them", 0},
	{"buffer-size", OPT_BUFFER_SIZE, "SIZE", 0,
	 "memory for single calls until they are written (default 64M)", 0},
	{"append", OPT_APPEND, 0, 0, "record: add a run to the file", 0},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "record --calls: the file grows no larger; the oldest calls go", 0},
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
	{0, 0, 0, 0, "Sessions, live (with --calls) or of a recording with single calls:", 5},
	{"session", OPT_SESSION, "GLOB", 0,
	 "each outermost call of a matching function is a session; may be repeated", 0},
	{"slowest", OPT_SLOWEST, "N", 0, "keep the N slowest as a whole (default 10)", 0},
	{"over", OPT_OVER, "T", 0, "keep those that took longer than T as well: 500us, 10ms", 0},
	{"link", OPT_LINK, "'SUBMIT(VALUE) -> RUN(VALUE)'", 0,
	 "a call of RUN continues the session of the call of SUBMIT with the same value; may be "
	 "repeated",
	 0},
	{0, 0, 0, 0, "Result:", 6},
	{"by", OPT_BY, "VALUE", 0,
	 "tell calls apart by this value of -A, as functions of their own: f(arg1=5)", 0},
	{"format", 'f', "FMT", 0,
	 "the form of the result; default: what the name of -o's FILE ends in, else tree on a "
	 "terminal and folded otherwise. FMT is one of ",
	 0},
	{"output", 'o', "FILE", 0, "write the result to FILE instead of stdout", 0},
	{"weight", 'w', "wall|cpu|off|calls", 0,
	 "what folded stacks weigh: nanoseconds (default), those on a CPU, those off it, or calls",
	 0},
	{"reverse", OPT_REVERSE, 0, 0,
	 "folded stacks begin with the innermost function; with -w off: with what has waited", 0},
	{"min-time", OPT_MIN_TIME, "T", 0,
	 "leave out what took less than T in total: 500ns, 10us, 1.5ms, 2s", 0},
	{"hist", OPT_HIST, "GLOB", 0,
	 "tree, flat: draw how long the calls of matching functions took; may be repeated", 0},
	{"raw", OPT_RAW, 0, 0, "leave what the probes cost in all times", 0},
	{"thread-frames", OPT_THREAD_FRAMES, 0, 0,
	 "keep threads apart: folded stacks begin with comm-pid/tid, trees are per thread", 0},
	{"color", OPT_COLOR, "auto|always|never", 0,
	 "colours (default: on a terminal, unless NO_COLOR is set)", 0},
	{"quiet", 'q', 0, 0, "print errors only", 0},
	{"verbose", 'v', 0, 0, "say more; leave nothing out of trees and tables", 0},
	{"version", 'V', 0, 0, "print the version", -1},
	{"help", 'h', 0, 0, "print this help", -1},
	{0},
};

static bool parse_range(struct options *o, const char *text)
{
	o->ranged = true;
	return value__range(text, &o->from_ns, &o->to_ns);
}

/* Appends "1,2,3" to the PID list. Values that no process can have are refused here. */
static bool parse_pids(struct options *o, const char *text)
{
	size_t cap = o->pids_cnt;

	for (;;) {
		char *end;
		long pid;

		errno = 0;
		pid = strtol(text, &end, 10);
		if (!isdigit((unsigned char)*text) || errno || pid <= 0 || pid > 0x7fffffff ||
		    (*end && *end != ',') || o->pids_cnt >= MAX_PIDS)
			return false;
		for (size_t i = 0; i < o->pids_cnt; i++) {
			if (o->pids[i] == pid)
				goto next; /* named twice */
		}
		if (ARRAY_RESERVE(&o->pids, o->pids_cnt, &cap))
			return false;
		o->pids[o->pids_cnt++] = pid;
	next:
		if (!*end)
			return true;
		text = end + 1;
	}
}

static bool append(char ***list, size_t *cnt, char *text)
{
	char **grown = reallocarray(*list, *cnt + 1, sizeof(*grown));

	if (!grown)
		return false;
	*list = grown;
	grown[(*cnt)++] = text;
	return true;
}

static bool parse_color(struct options *o, const char *when)
{
	if (!strcmp(when, "auto"))
		o->color = COLOR_AUTO;
	else if (!strcmp(when, "always"))
		o->color = COLOR_ALWAYS;
	else if (!strcmp(when, "never"))
		o->color = COLOR_NEVER;
	else
		return false;
	return true;
}

static bool parse_weight(struct options *o, const char *name)
{
	if (!strcmp(name, "wall"))
		o->sink_opts.weight = WEIGHT_WALL;
	else if (!strcmp(name, "cpu"))
		o->sink_opts.weight = WEIGHT_CPU;
	else if (!strcmp(name, "off"))
		o->sink_opts.weight = WEIGHT_OFF;
	else if (!strcmp(name, "calls"))
		o->sink_opts.weight = WEIGHT_CALLS;
	else
		return false;
	return true;
}

static bool parse_exits(struct options *o, const char *name)
{
	static const char *const names[] = {"return", "sites", "none"};

	o->exits = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i]))
			o->exits = names[i];
	}
	return o->exits || !strcmp(name, "auto");
}

/* Reports a usage error. */
#define complain(o, ...) (log_error(__VA_ARGS__), (o)->complained = true, EINVAL)

static error_t bad_value(struct options *o, const char *option, const char *value, const char *want)
{
	return complain(o, "%s %s: %s; see proftrace --help", option, value, want);
}

static error_t parse_target(struct options *o, int key, char *arg)
{
	switch (key) {
	case 'p':
		if (!parse_pids(o, arg))
			return bad_value(o, "-p", arg, "not a list of process ids, as 12 or 12,34");
		return 0;
	case 'x':
		if (o->exec)
			return bad_value(o, "-x", arg, "only one -x can be given");
		o->exec = arg;
		return 0;
	case OPT_FOLLOW:
		o->follow = true;
		return 0;
	case 'F':
		return append(&o->filters, &o->filters_cnt, arg) ? 0 : ENOMEM;
	case 'N':
		return append(&o->notraces, &o->notraces_cnt, arg) ? 0 : ENOMEM;
	case OPT_USDT:
		return append(&o->usdts, &o->usdts_cnt, arg) ? 0 : ENOMEM;
	case 'A':
		o->calls = true;
		arg = strdup(arg);
		return arg && append(&o->arguments, &o->arguments_cnt, arg) ? 0 : ENOMEM;
	case OPT_IF:
		o->calls = true;
		return append(&o->conditions, &o->conditions_cnt, arg) ? 0 : ENOMEM;
	case OPT_LINES:
		return append(&o->lines, &o->lines_cnt, arg) ? 0 : ENOMEM;
	case 'D':
		if (!value__number(arg, 1u << 30, &o->depth))
			return bad_value(o, "-D", arg, "not a number of levels from 1 on");
		return 0;
	case OPT_TRIGGER:
		return append(&o->triggers, &o->triggers_cnt, arg) ? 0 : ENOMEM;
	case OPT_UNTIL:
		return append(&o->untils, &o->untils_cnt, arg) ? 0 : ENOMEM;
	case OPT_EXITS:
		if (!parse_exits(o, arg))
			return bad_value(o, "--exits", arg, "not one of auto, return, sites, none");
		return 0;
	case 'l':
		o->list = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_run(struct options *o, int key, char *arg)
{
	switch (key) {
	case 'd':
		if (!value__seconds(arg, &o->duration_ns))
			return bad_value(o, "-d", arg, "not a number of seconds above 0");
		return 0;
	case 'i':
		if (!value__seconds(arg, &o->interval_ns))
			return bad_value(o, "-i", arg, "not a number of seconds above 0");
		return 0;
	case OPT_PAUSED:
		o->paused = true;
		return 0;
	case OPT_SKIP:
		if (!value__duration(arg, &o->skip_ns))
			return bad_value(o, "--skip", arg,
					 "not a time with its unit, as 500ms, 10s");
		return 0;
	case OPT_MAX_PATHS:
		if (!value__number(arg, MAX_MAX_PATHS, &o->max_paths))
			return bad_value(o, "--max-paths", arg, "not a number from 1 to 67108864");
		return 0;
	case OPT_MAX_OVERHEAD:
		if (!value__percent(arg, &o->max_overhead))
			return bad_value(o, "--max-overhead", arg,
					 "neither a percentage above 0 nor none");
		return 0;
	case OPT_SAMPLE_HOT:
		if (!value__number(arg, MAX_SAMPLE_HOT, &o->sample_hot) || o->sample_hot < 2)
			return bad_value(o, "--sample-hot", arg, "not a number from 2 to 1000000");
		return 0;
	case OPT_APPEND:
		o->append = true;
		return 0;
	case OPT_CALLS:
		o->calls = true;
		return 0;
	case OPT_BUFFER_SIZE:
		if (!value__size(arg, MIN_BUFFER, &o->buffer_size))
			return bad_value(o, "--buffer-size", arg, "not a size of at least 1M");
		return 0;
	case OPT_MAX_SIZE:
		if (!value__size(arg, MIN_MAX_SIZE, &o->max_size))
			return bad_value(o, "--max-size", arg, "not a size of at least 1M");
		return 0;
	case OPT_TIER:
		if (strcmp(arg, "session") && strcmp(arg, "uprobe_multi"))
			return bad_value(o, "--tier", arg, "not one of session, uprobe_multi");
		o->tier = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool add_link(struct options *o, const char *text)
{
	struct link_option *grown = reallocarray(o->links, o->links_cnt + 1, sizeof(*grown));

	if (!grown)
		return false;
	o->links = grown;
	if (!link_option__parse(&o->links[o->links_cnt], text))
		return false;
	o->links_cnt++;
	return true;
}

static error_t parse_session(struct options *o, int key, char *arg)
{
	switch (key) {
	case OPT_SESSION:
		return append(&o->sessions, &o->sessions_cnt, arg) ? 0 : ENOMEM;
	case OPT_SLOWEST:
		if (!value__number(arg, MAX_SLOWEST, &o->slowest))
			return bad_value(o, "--slowest", arg, "not a number from 1 to 10000");
		return 0;
	case OPT_OVER:
		if (!value__duration(arg, &o->over_ns))
			return bad_value(o, "--over", arg,
					 "not a time with its unit, as 500us, 10ms, 2s");
		return 0;
	case OPT_LINK:
		if (!add_link(o, arg))
			return bad_value(o, "--link", arg, "not as 'submit(arg1) -> run(arg1)'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_result(struct options *o, int key, char *arg)
{
	char names[FORMAT_NAMES];

	switch (key) {
	case 'f':
		o->sink = sink__find(arg);
		if (!o->sink)
			return complain(o, "-f %s: not one of %s; see proftrace --help", arg,
					sink__names(names, sizeof(names)));
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'w':
		if (!parse_weight(o, arg))
			return bad_value(o, "-w", arg, "not one of wall, cpu, off, calls");
		return 0;
	case OPT_REVERSE:
		o->sink_opts.reverse = true;
		return 0;
	case OPT_MIN_TIME:
		if (!value__duration(arg, &o->min_time_ns))
			return bad_value(o, "--min-time", arg,
					 "not a time with its unit, as 500ns, 10us, 1.5ms, 2s");
		return 0;
	case OPT_HIST:
		return append(&o->hists, &o->hists_cnt, arg) ? 0 : ENOMEM;
	case OPT_RAW:
		o->raw = true;
		return 0;
	case OPT_THREAD_FRAMES:
		o->sink_opts.thread_frames = true;
		return 0;
	case OPT_COLOR:
		if (!parse_color(o, arg))
			return bad_value(o, "--color", arg, "not one of auto, always, never");
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_view(struct options *o, int key, char *arg)
{
	switch (key) {
	case OPT_THREAD:
		return append(&o->threads, &o->threads_cnt, arg) ? 0 : ENOMEM;
	case OPT_RANGE:
		if (!parse_range(o, arg))
			return bad_value(o, "--range", arg,
					 "not a range of time, as 1.5s..2s, ..500ms, 3..");
		return 0;
	case OPT_RUN:
		if (!value__number(arg, MAX_RUN, &o->run))
			return bad_value(o, "--run", arg, "not a number from 1 on");
		return 0;
	case OPT_PER_CALL:
		o->per_call = true;
		return 0;
	case OPT_BY:
		o->by = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *const verb_names[] = {"", "record", "report", "diff"};

/* Whether the option says something about what the verb does. */
static bool suits(enum verb verb, int key)
{
	bool reads = verb == VERB_REPORT || verb == VERB_DIFF;

	switch (key) {
	case 'F':
	case 'N':
	case 'D':
	case 'o':
	case 'q':
	case 'v':
		return true;
	case OPT_THREAD:
	case OPT_RUN:
	case OPT_RANGE:
		return reads;
	case OPT_PER_CALL:
		return verb == VERB_DIFF;
	case OPT_APPEND:
	case OPT_MAX_SIZE:
		return verb == VERB_RECORD;
	case 'i':
	case 'l':
		return verb == VERB_TRACE;
	case 'f':
	case 'w':
	case OPT_MIN_TIME:
	case OPT_COLOR:
		return verb != VERB_RECORD;
	case OPT_BY:
	case OPT_REVERSE:
	case OPT_HIST:
	case OPT_THREAD_FRAMES:
	case OPT_SESSION:
	case OPT_SLOWEST:
	case OPT_OVER:
	case OPT_LINK:
		return verb == VERB_TRACE || verb == VERB_REPORT;
	default:
		return !reads;
	}
}

static const char *option_name(int key)
{
	for (const struct argp_option *a = argp_options; a->name || a->doc; a++) {
		if (a->name && a->key == key)
			return a->name;
	}
	return "?";
}

/* A word that is no option: a recording, or the command, with all that follows. */
static error_t parse_word(struct options *o, char *arg, struct argp_state *state)
{
	if (o->verb == VERB_TRACE || o->verb == VERB_RECORD) {
		o->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	}
	if (o->inputs_cnt == (o->verb == VERB_DIFF ? 2 : 1))
		return complain(o, "%s: %s reads no more than %zu recording%s", arg,
				verb_names[o->verb], o->inputs_cnt, o->inputs_cnt == 1 ? "" : "s");
	o->inputs[o->inputs_cnt++] = arg;
	return 0;
}

static error_t check_target(struct options *o)
{
	if (o->command && (o->pids_cnt || o->exec))
		return complain(o,
				"a command (%s) goes with neither -p nor -x; see proftrace --help",
				o->command[0]);
	if (!o->command && !o->pids_cnt && !o->exec)
		return complain(
			o, "whom to trace? -p PID, -x PATH or a command; see proftrace --help");
	if (o->verb == VERB_RECORD && !o->output)
		o->output = RECORDING;
	return 0;
}

/* What the format asks of the other options. A recording is in no format. */
static error_t check_format(struct options *o)
{
	char names[FORMAT_NAMES];

	if (o->verb == VERB_RECORD || o->list)
		return 0;
	if (!o->sink && o->output)
		o->sink = sink__for_file(o->output);
	if (!o->sink && o->verb == VERB_DIFF)
		o->sink = &sink_tree;
	if (!o->sink)
		return 0;
	if (o->verb == VERB_DIFF && !o->sink->write_diff)
		return complain(o, "%s shows one run; of two show something: %s", o->sink->name,
				sink__diff_names(names, sizeof(names)));
	o->calls |= o->sink->needs_calls && o->verb == VERB_TRACE;
	if (o->sink->needs_lines && o->verb == VERB_TRACE && !o->lines_cnt)
		return complain(o, "-f %s: which lines? --lines FUNC, or --lines FILE:FROM-TO",
				o->sink->name);
	if (o->sink->write_file && !o->output)
		return complain(o, "%s is no format for a stream: name a file with -o",
				o->sink->name);
	if (o->sink->whole && o->interval_ns)
		return complain(
			o, "-i: a file holds a single profile in the format %s; choose another",
			o->sink->name);
	return 0;
}

static error_t check_sessions(struct options *o)
{
	if (!o->sessions_cnt && (o->slowest || o->over_ns || o->links_cnt))
		return complain(o,
				"--slowest, --over and --link are about sessions: add --session");
	if (!o->slowest)
		o->slowest = DEFAULT_SLOWEST;
	if (o->sessions_cnt && o->interval_ns)
		return complain(o,
				"--session and -i exclude each other: sessions are looked at once "
				"all have been seen");
	o->calls |= o->sessions_cnt && o->verb == VERB_TRACE;
	for (size_t i = 0; i < o->links_cnt && o->verb == VERB_TRACE; i++) {
		if (!link_option__want(&o->links[i], &o->arguments, &o->arguments_cnt))
			return ENOMEM;
	}
	return 0;
}

/* Triggers are traced, whatever else is. */
static error_t add_triggers(struct options *o)
{
	bool ok = true;

	if (!o->triggers_cnt && !o->untils_cnt)
		return 0;
	for (size_t i = 0; ok && i < o->triggers_cnt; i++)
		ok = append(&o->filters, &o->filters_cnt, o->triggers[i]);
	for (size_t i = 0; ok && i < o->untils_cnt; i++)
		ok = append(&o->filters, &o->filters_cnt, o->untils[i]);
	return ok ? 0 : ENOMEM;
}

static error_t check(struct options *o)
{
	bool reads = o->verb == VERB_REPORT || o->verb == VERB_DIFF;
	error_t err = reads ? 0 : check_target(o);

	if (!err)
		err = check_format(o);
	if (!err)
		err = check_sessions(o);
	if (err)
		return err;
	if (reads && !o->inputs_cnt)
		o->inputs[o->inputs_cnt++] = RECORDING;
	if (o->calls && o->interval_ns)
		return complain(
			o, "--calls and -i exclude each other: a timeline is shown as a whole");
	if (o->by && !reads && !o->arguments_cnt && !o->conditions_cnt)
		return complain(o, "--by %s: no values are read: add -A", o->by);
	if (o->max_size && !o->calls)
		return complain(o, "--max-size is for single calls: add --calls");
	if (o->paused && o->skip_ns)
		return complain(o, "--paused and --skip exclude each other: either a signal "
				   "switches tracing on, or the time");
	if (o->duration_ns && o->skip_ns >= o->duration_ns)
		return complain(o, "--skip: nothing is left of -d, which counts from the start");
	if (o->quiet && o->verbose)
		return complain(o, "-q and -v exclude each other");
	o->filtered = o->filters_cnt || o->lines_cnt;
	if (o->max_overhead == OVERHEAD_NOT_GIVEN)
		o->max_overhead = o->filtered ? 0 : DEFAULT_MAX_OVERHEAD;
	return add_triggers(o);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	error_t err;

	switch (key) {
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
			  "proftrace");
		o->help = true;
		return ECANCELED;
	case 'V':
		printf("proftrace %s\n", PROFTRACE_VERSION);
		o->help = true;
		return ECANCELED;
	case ARGP_KEY_ARG:
		return parse_word(o, arg, state);
	case ARGP_KEY_END:
		return check(o);
	case ARGP_KEY_ERROR:
		o->failed_at = state->next;
		return 0;
	default:
		err = parse_target(o, key, arg);
		if (err == ARGP_ERR_UNKNOWN)
			err = parse_run(o, key, arg);
		if (err == ARGP_ERR_UNKNOWN)
			err = parse_view(o, key, arg);
		if (err == ARGP_ERR_UNKNOWN)
			err = parse_session(o, key, arg);
		if (err == ARGP_ERR_UNKNOWN)
			err = parse_result(o, key, arg);
		if (!err && !suits(o->verb, key))
			return complain(o, "--%s does not go with %s; see proftrace --help",
					option_name(key),
					*verb_names[o->verb] ? verb_names[o->verb] : "live output");
		return err;
	}
}

/* Completes the help for -f. argp frees what is not `text`. */
static char *name_formats(int key, const char *text, void *input)
{
	char names[FORMAT_NAMES], *help;

	if (key != 'f' || asprintf(&help, "%s%s", text, sink__names(names, sizeof(names))) < 0)
		return (char *)text;
	return help;
}

/* Takes the verb for the program's name. */
static enum verb parse_verb(int *argc, char ***argv)
{
	for (int v = VERB_RECORD; v <= VERB_DIFF && *argc > 1; v++) {
		if (strcmp((*argv)[1], verb_names[v]))
			continue;
		++*argv;
		--*argc;
		return v;
	}
	return VERB_TRACE;
}

int options__parse(struct options *o, int argc, char **argv)
{
	const struct argp argp = {argp_options, parse_option, args_doc, doc,
				  NULL,		name_formats, NULL};
	error_t err;

	*o = (struct options){.argv = argv,
			      .max_paths = DEFAULT_MAX_PATHS,
			      .max_overhead = OVERHEAD_NOT_GIVEN,
			      .buffer_size = DEFAULT_BUFFER};
	o->verb = parse_verb(&argc, &argv);
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS, NULL, o);
	if (o->help)
		return fflush(stdout) ? 2 : 1;
	if (err && !o->complained)
		log_error("%s: no such option, or its value is missing; see proftrace --help",
			  argv[o->failed_at > 1 ? o->failed_at - 1 : argc - 1]);
	if (err)
		return OPTIONS_USAGE_STATUS + 1;
	o->sink_opts.verbose = o->verbose;
	o->sink_opts.raw = o->raw;
	o->sink_opts.hists = o->hists;
	o->sink_opts.hists_cnt = o->hists_cnt;
	return 0;
}

void options__clear(struct options *o)
{
	free(o->pids);
	free(o->filters);
	free(o->notraces);
	free(o->usdts);
	for (size_t i = 0; i < o->arguments_cnt; i++)
		free(o->arguments[i]);
	free(o->arguments);
	free(o->conditions);
	free(o->triggers);
	free(o->untils);
	free(o->lines);
	free(o->hists);
	free(o->threads);
	free(o->sessions);
	for (size_t i = 0; i < o->links_cnt; i++)
		free(o->links[i].submit);
	free(o->links);
	*o = (struct options){0};
}
