// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_check.h"

#include <string.h>

#include "cli/option_settle.h"
#include "cli/option_table.h"
#include "sink/sink.h"
#include "util/log.h"

#define DEFAULT_SLOWEST	 10
#define SLOW_FOLDER	 "proftrace-slow"
#define SLO_WINDOW_NS	 1000000000ull
#define SLO_MAX_SIZE	 (16ull << 20)
#define LIVE_INTERVAL_NS 1000000000ull

/* Whether it says how functions are probed, which -a does not do. */
static bool is_of_probes(int key)
{
	switch (key) {
	case 'D':
	case OPT_FOLLOW:
	case OPT_SYSCALLS:
	case OPT_EXITS:
	case OPT_MAX_OVERHEAD:
	case OPT_SAMPLE_HOT:
	case OPT_BURST:
	case OPT_TIER:
	case OPT_INLINES:
	case OPT_RAW:
		return true;
	default:
		return false;
	}
}

void option_check__note(struct options *o, int key)
{
	bool judges = key == OPT_ASSERT || key == OPT_RUN || key == 'q' || key == 'v';

	if (!judges && !o->of_a_run)
		o->of_a_run = key;
	if (is_of_probes(key) && !o->of_probes)
		o->of_probes = key;
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Samples alone tell of time, and of no calls. */
static error_t check_all(struct options *o)
{
	if (o->chosen || o->exec || o->command)
		return complain(o, "-a looks at all processes: it goes with neither -p and its "
				   "like nor -x nor a command");
	if (o->calls || o->sessions_cnt || o->arguments_cnt || o->conditions_cnt || o->lines_cnt ||
	    o->usdts_cnt || o->triggers_cnt || o->untils_cnt || o->callers || o->filters_cnt ||
	    o->notraces_cnt || o->list || o->paused || o->skip_ns || o->no_samples || o->serve.len)
		return complain(o, "-a takes samples of all processes and probes nothing: no "
				   "functions can be chosen, and no calls are seen (-p NAME does "
				   "that)");
	/* In top they are for the process that somebody goes into. */
	if (o->of_probes && o->verb != VERB_TOP)
		return complain(o,
				"-a takes samples of all processes and probes nothing: --%s is "
				"about probes",
				option_table__name(o->of_probes));
	if (o->verb == VERB_CHECK || (o->verb == VERB_RECORD && o->interval_ns))
		return complain(o, "-a goes with a format, with top, or with record without -i");
	return 0;
}

/* The name of a file chooses a format elsewhere. */
static void tell_recording(const struct options *o)
{
	const struct sink *sink = sink__for_file(o->output);

	if (sink)
		log_warn("-o %s: record writes a recording there, whatever the name; for %s leave "
			 "out 'record', or then run: proftrace report -f %s -o FILE %s",
			 o->output, sink->name, sink->name, o->output);
}

/* Checks what record writes to, and chooses a file if none is named. */
static error_t check_recording(struct options *o)
{
	if (o->verb != VERB_RECORD)
		return 0;
	if (o->interval_ns && (!o->output || o->append))
		return complain(o, "record -i: each interval is a recording of its own; -o names "
				   "the folder for them, and nothing is appended");
	if (!o->output)
		o->output = o->slos_cnt ? SLOW_FOLDER : RECORDING;
	if (o->command && !strcmp(o->output, STDOUT_PATH))
		return complain(o,
				"record -o -: %s writes to the standard output as well; name a "
				"file, or a pipe as -o >(...)",
				o->command[0]);
	if (!o->interval_ns)
		tell_recording(o);
	return 0;
}

/* Checks that one way to name the target was chosen; top without one shows the whole machine. */
static error_t check_target(struct options *o)
{
	const bool grouped = o->unit || o->cgroup || o->container;

	o->joins = o->names_cnt || grouped || o->user;
	o->chosen = o->pids_cnt || o->joins;
	if (!!o->unit + !!o->cgroup + !!o->container > 1)
		return complain(o, "--unit, --cgroup and --container exclude each other: each is a "
				   "control group");
	/* A command that is a number is rather a list of process ids, as pidof prints it. */
	if (o->command && (o->pids_cnt || o->names_cnt) && is_number(o->command[0]))
		return complain(o, "-p ... %s: commas go between process ids, as 12,34",
				o->command[0]);
	if (o->command && (o->chosen || o->exec))
		return complain(o, "a command (%s) goes with neither %s; see proftrace --help",
				o->command[0],
				grouped || o->user ? "--unit, --cgroup, --container nor --user"
						   : "-p nor -x");
	if (o->follow && !o->children)
		return complain(o, "--follow and --no-children exclude each other");
	if (o->verb == VERB_TOP && !o->interval_ns)
		o->interval_ns = LIVE_INTERVAL_NS;
	o->all |= o->verb == VERB_TOP && !o->command && !o->chosen && !o->exec;
	if (o->all)
		return check_all(o);
	if (!o->command && !o->chosen && !o->exec)
		return complain(
			o, "whom to trace? -p NAME, -x PATH or a command; see proftrace --help");
	return 0;
}

/* A live page is the only result, unless a file or a format is named as well. */
static error_t check_serve(struct options *o)
{
	if (o->no_token && !o->serve.len)
		return complain(o, "--no-token is about --serve: add that");
	if (!o->serve.len)
		return 0;
	if (o->verb == VERB_RECORD && o->interval_ns)
		return complain(o, "--serve and record -i exclude each other: serve one, or record "
				   "intervals");
	o->serve_interval_ns = o->interval_ns ? o->interval_ns : LIVE_INTERVAL_NS;
	o->interval_ns = 0;
	return 0;
}

/* Checks the format against the other options. A recording is in no format; of what would be probed
 * there are JSON and text. */
static error_t check_format(struct options *o)
{
	const struct sink *named = o->output ? sink__for_file(o->output) : NULL;
	char names[FORMAT_NAMES];

	if (o->list && !o->sink && o->output)
		o->sink = named == &sink_json ? named : &sink_tree;
	if (o->verb == VERB_RECORD || o->verb == VERB_CHECK || o->list)
		return 0;
	if (!o->sink)
		o->sink = named;
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

/* The only thing that shows anything is a page or a screen that follows the run. */
static bool is_live(const struct options *o)
{
	return o->verb == VERB_TOP ||
	       (o->verb == VERB_TRACE && o->serve.len && !o->output && !o->sink);
}

static error_t check_sessions(struct options *o)
{
	o->arguments_given = o->arguments_linked = o->arguments_cnt;
	if (!o->sessions_cnt && (o->slowest || o->over_ns || o->links_cnt || o->session_id.value))
		return complain(o, "--slowest, --over, --link, --session-id and --trace-id are "
				   "about sessions: add --session");
	/* How long they take is known without single calls. */
	if (is_live(o) && !o->slowest && !o->over_ns && !o->links_cnt && !o->session_id.value)
		return 0;
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
	o->arguments_linked = o->arguments_cnt;
	for (size_t i = 0; i < o->sessions_cnt && o->verb == VERB_TRACE; i++) {
		if (!session_id__want(&o->session_id, o->sessions[i], &o->arguments,
				      &o->arguments_cnt))
			return ENOMEM;
	}
	return 0;
}

/* A watching run keeps single calls, the newest ones, for recordings of what was slow. */
static error_t check_slo(struct options *o)
{
	if (!o->slos_cnt && (o->slo_window_ns || o->on_slow))
		return complain(o, "--slo-window and --on-slow are about --slo: add "
				   "--slo 'handle_*: p99 < 5ms'");
	if (!o->slos_cnt)
		return 0;
	if (o->interval_ns || o->append || o->arguments_cnt || o->conditions_cnt ||
	    o->triggers_cnt || o->untils_cnt || o->lines_cnt || o->serve.len)
		return complain(o, "--slo goes with none of -i, --append, --serve, -A, --if, "
				   "--trigger, --until and --lines");
	if (!o->slo_window_ns)
		o->slo_window_ns = SLO_WINDOW_NS;
	if (!o->max_size)
		o->max_size = SLO_MAX_SIZE;
	o->calls = true;
	return 0;
}

/* Whose mappings are known is unwound. */
static error_t check_unwinding(struct options *o)
{
	o->samples_asked =
		!o->no_samples && o->sample_rate && o->sample_rate != SAMPLE_RATE_NOT_GIVEN;
	if (!o->callers && !o->samples_asked)
		return 0;
	if (o->exec && !o->chosen)
		return complain(o,
				"%s with -x needs -p: of processes that nobody has named the "
				"mappings are not known",
				o->callers ? "--callers" : "--sample-rate");
	return 0;
}

static error_t check_fleet(struct options *o)
{
	const size_t wheres = o->verb == VERB_DIFF ? 2 : 1;

	if (o->verb == VERB_SEND && !o->to)
		return complain(
			o, "send: --to is needed, for instance --to clickhouse://HOST/DATABASE");
	if (o->verb == VERB_SEND && !o->inputs_cnt)
		o->inputs[o->inputs_cnt++] = RECORDING;
	if (o->wheres_cnt && !o->from)
		return complain(o, "--where needs a database: --from clickhouse://HOST/DATABASE");
	if (o->from && o->inputs_cnt)
		return complain(o, "%s: either recordings or a database, --from", o->inputs[0]);
	if (o->from && (o->run || o->ranged || o->sessions_cnt || o->by || o->threads_cnt))
		return complain(o, "--from: a database has neither runs nor single calls nor "
				   "single threads; --where chooses what is shown");
	if (o->from && o->wheres_cnt != wheres)
		return complain(
			o, wheres == 1 ? "--from needs --where once, for instance --where "
					 "\"service = 'api'\""
				       : "diff --from needs --where twice, the old profiles first");
	return 0;
}

/* A recording is judged as it is: nothing is traced, and nothing written. */
static error_t check_assertions(struct options *o)
{
	if (!o->assertions_cnt)
		return complain(
			o,
			"check: --assert is needed, for instance --assert 'calls(parse) <= 1000'");
	if (o->inputs_cnt && (o->command || o->pids_cnt || o->names_cnt || o->exec))
		return complain(o, "check %s: either a recording or, behind --, a command",
				o->inputs[0]);
	if (o->inputs_cnt && o->of_a_run)
		return complain(o,
				"check %s: a recording is judged as it is, and --%s is for a run",
				o->inputs[0], option_table__name(o->of_a_run));
	if (!o->inputs_cnt && o->run)
		return complain(o, "check: --run is for a recording, and none is named");
	return 0;
}

/* Whether recordings are read, or a database, and nothing is traced. */
static bool reads(const struct options *o)
{
	return o->verb == VERB_REPORT || o->verb == VERB_DIFF ||
	       (o->verb == VERB_CHECK && o->inputs_cnt);
}

/* Options that exclude or need each other, once it is known whether single calls are kept. */
static error_t check_combinations(struct options *o)
{
	if ((o->callers || o->samples_asked) && o->calls)
		return complain(o,
				"%s and single calls (--calls, --session, -A, and formats "
				"that need them) exclude each other",
				o->callers ? "--callers" : "--sample-rate");
	if (o->calls && is_live(o) && o->verb == VERB_TRACE)
		return complain(o, "--serve shows no single calls (--calls, --slowest, --link, "
				   "-A): with -o, or record, they are kept");
	if (o->calls && o->interval_ns)
		return complain(
			o, "--calls and -i exclude each other: a timeline is shown as a whole");
	if (o->by && !reads(o) && !o->arguments_cnt && !o->conditions_cnt)
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
	return 0;
}

/* The checks of a run, or of what a recording is shown as, in an order: the format and sessions say
 * whether single calls are kept, which later ones ask. Returns the first error. */
static error_t check_run(struct options *o)
{
	static error_t (*const checks[])(struct options *) = {
		check_recording, check_serve, check_unwinding,	  check_format,
		check_sessions,	 check_slo,   check_combinations,
	};
	error_t err = reads(o) ? 0 : check_target(o);

	for (size_t i = 0; !err && i < sizeof(checks) / sizeof(*checks); i++)
		err = checks[i](o);
	return err;
}

error_t option_check__all(struct options *o)
{
	error_t err = check_fleet(o);

	if (err || o->verb == VERB_DOCTOR || o->verb == VERB_AGENT)
		return err;
	if (o->verb == VERB_SEND)
		return check_sessions(o);
	if (o->verb == VERB_CHECK)
		err = check_assertions(o);
	if (!err)
		err = check_run(o);
	if (err)
		return err;
	if (reads(o) && !o->inputs_cnt && !o->from)
		o->inputs[o->inputs_cnt++] = RECORDING;
	option_settle__all(o);
	return 0;
}
