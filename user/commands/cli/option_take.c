// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_take.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/condition.h"
#include "cli/option_check.h"
#include "cli/option_table.h"
#include "cli/options.h"
#include "cli/values.h"
#include "util/array.h"
#include "util/glob.h"

#define MAX_MAX_PATHS  (1u << 26)
#define MAX_PIDS       4096
#define MAX_NAMES      64
#define MAX_SAMPLE_HOT 1000000
#define MIN_BURST_NS   1000000
#define MAX_BURST_NS   100000000
#define MAX_RUN	       1000000
#define MIN_BUFFER     (1ull << 20)
#define MIN_MAX_SIZE   (1ull << 20)
#define MAX_SLOWEST    10000
#define MIN_WINDOW_NS  100000000
#define MAX_WINDOW_NS  60000000000

bool option_append(char ***list, size_t *cnt, char *text)
{
	char **grown = reallocarray(*list, *cnt + 1, sizeof(*grown));

	if (!grown)
		return false;
	*list = grown;
	grown[(*cnt)++] = text;
	return true;
}

static bool parse_range(struct options *o, const char *text)
{
	o->ranged = true;
	return value__range(text, &o->from_ns, &o->to_ns);
}

static bool add_pid(struct options *o, const char *text)
{
	size_t cap = o->pids_cnt;
	long pid;

	errno = 0;
	pid = strtol(text, NULL, 10);
	if (errno || pid <= 0 || pid > 0x7fffffff || o->pids_cnt >= MAX_PIDS)
		return false;
	for (size_t i = 0; i < o->pids_cnt; i++) {
		if (o->pids[i] == pid)
			return true; /* named twice */
	}
	if (ARRAY_RESERVE(&o->pids, o->pids_cnt, &cap))
		return false;
	o->pids[o->pids_cnt++] = pid;
	return true;
}

/* A name has a letter; with a slash it is a path, which -x takes. */
static bool add_name(struct options *o, char *name)
{
	static const char no_letters[] = "0123456789 \t.,;:+-";

	return name[strspn(name, no_letters)] && *name != '-' && !strchr(name, '/') &&
	       o->names_cnt < MAX_NAMES && option_append(&o->names, &o->names_cnt, name);
}

/* Appends "1,nginx,3" to the lists. Values that no process can have are refused here. */
static bool parse_processes(struct options *o, const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ",");
		char *word = strndup(text, len);
		bool number = len && strspn(text, "0123456789") == len;
		bool ok = word && (number ? add_pid(o, word) : add_name(o, word));

		if (number || !ok)
			free(word);
		if (!ok || !text[len])
			return ok;
		text += len + 1;
	}
}

/* Once, and not empty. */
static error_t take_text(struct options *o, int key, const char **text, const char *arg)
{
	if (*text || !*arg)
		return complain(o, "--%s '%s': it takes one name, once; see proftrace --help",
				option_table__name(key), arg);
	*text = arg;
	return 0;
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
	o->sink_opts.weight_chosen = true;
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

static error_t bad_value(struct options *o, const char *option, const char *value, const char *want)
{
	return complain(o, "%s %s: %s; see proftrace --help", option, value, want);
}

/* A path or a URL. An empty one, as of a shell's variable that is not set, names nothing. */
static error_t take_place(struct options *o, const char *option, const char **place,
			  const char *arg)
{
	if (!*arg)
		return bad_value(o, option, "''", "it is empty, and names nothing");
	*place = arg;
	return 0;
}

static error_t parse_whom(struct options *o, int key, char *arg)
{
	switch (key) {
	case 'p':
		if (!parse_processes(o, arg))
			return bad_value(o, "-p", arg,
					 "not a list of names and process ids, as nginx or 12,34");
		return 0;
	case OPT_UNIT:
		return take_text(o, key, &o->unit, arg);
	case OPT_CGROUP:
		return take_text(o, key, &o->cgroup, arg);
	case OPT_CONTAINER:
		return take_text(o, key, &o->container, arg);
	case OPT_USER:
		return take_text(o, key, &o->user, arg);
	case 'a':
		o->all = true;
		return 0;
	case 'x':
		if (o->exec)
			return bad_value(o, "-x", arg, "only one -x can be given");
		o->exec = arg;
		return 0;
	case OPT_FOLLOW:
		o->follow = true;
		return 0;
	case OPT_NO_CHILDREN:
		o->children = false;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct globs {
	char ***list;
	size_t *cnt;
};

/* Takes a GLOB. An empty one, as of a shell's variable that is not set, would match all functions,
 * one of an OBJECT without a name none. */
static error_t add_glob(struct options *o, const char *option, char *arg, struct globs to)
{
	if (!*arg || glob__object_end(arg) == arg)
		return bad_value(o, option, arg,
				 "no glob: FUNC or OBJECT:FUNC is needed, '*' for all functions");
	return option_append(to.list, to.cnt, arg) ? 0 : ENOMEM;
}

static error_t parse_functions(struct options *o, int key, char *arg)
{
	switch (key) {
	case 'F':
		return add_glob(o, "-F", arg, (struct globs){&o->filters, &o->filters_cnt});
	case 'N':
		return add_glob(o, "-N", arg, (struct globs){&o->notraces, &o->notraces_cnt});
	case OPT_USDT:
		return option_append(&o->usdts, &o->usdts_cnt, arg) ? 0 : ENOMEM;
	case 'A':
		o->calls = true;
		arg = strdup(arg);
		return arg && option_append(&o->arguments, &o->arguments_cnt, arg) ? 0 : ENOMEM;
	case OPT_IF:
		o->calls = true;
		return option_append(&o->conditions, &o->conditions_cnt, arg) ? 0 : ENOMEM;
	case OPT_CALLERS:
		o->callers = true;
		return 0;
	case OPT_SYSCALLS:
		o->system_calls = true;
		return 0;
	case OPT_LINES:
		return option_append(&o->lines, &o->lines_cnt, arg) ? 0 : ENOMEM;
	case 'D':
		if (!value__number(arg, 1u << 30, &o->depth))
			return bad_value(o, "-D", arg, "not a number of levels from 1 on");
		return 0;
	case OPT_TRIGGER:
		return add_glob(o, "--trigger", arg,
				(struct globs){&o->triggers, &o->triggers_cnt});
	case OPT_UNTIL:
		return add_glob(o, "--until", arg, (struct globs){&o->untils, &o->untils_cnt});
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

static error_t parse_budget(struct options *o, int key, char *arg)
{
	switch (key) {
	case OPT_MAX_OVERHEAD:
		if (!value__percent(arg, &o->max_overhead))
			return bad_value(o, "--max-overhead", arg,
					 "neither a percentage above 0 nor none");
		return 0;
	case OPT_BURST:
		o->burst_asked = true;
		if (!value__duration(arg, &o->burst_ns) || o->burst_ns < MIN_BURST_NS ||
		    o->burst_ns > MAX_BURST_NS)
			return bad_value(o, "--burst", arg,
					 "not a time with its unit from 1ms to 100ms");
		return 0;
	case OPT_NO_BURSTS:
		o->burst_asked = false;
		o->burst_ns = 0;
		return 0;
	case OPT_SAMPLE_HOT:
		if (!value__number(arg, MAX_SAMPLE_HOT, &o->sample_hot) || o->sample_hot < 2)
			return bad_value(o, "--sample-hot", arg, "not a number from 2 to 1000000");
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
	case OPT_SERVE:
		if (!net_address__parse(arg, &o->serve))
			return bad_value(o, "--serve", arg,
					 "not as 8080, 0.0.0.0:8080 or [::1]:8080");
		return 0;
	case OPT_NO_TOKEN:
		o->no_token = true;
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
		if (strcmp(arg, "session") && strcmp(arg, "uprobe_multi") &&
		    strcmp(arg, "trace_event") && strcmp(arg, "trace_event_basic"))
			return bad_value(
				o, "--tier", arg,
				"not one of session, uprobe_multi, trace_event, trace_event_basic");
		o->backend = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

typedef const char *assertion_parser(struct assertion *a, const char *text, unsigned int *at);

static error_t add_assertion(struct options *o, int key, struct assertion **list, size_t *cnt,
			     const char *text)
{
	assertion_parser *parse = key == OPT_SLO ? assertion__parse_rule : assertion__parse;
	struct assertion *grown = reallocarray(*list, *cnt + 1, sizeof(*grown));
	const char *missing;
	unsigned int at;

	if (!grown)
		return ENOMEM;
	*list = grown;
	missing = parse(&grown[(*cnt)++], text, &at);
	return missing ? complain(o, "--%s '%s': at character %u: %s", option_table__name(key),
				  text, at, missing)
		       : 0;
}

static error_t parse_slo(struct options *o, int key, char *arg)
{
	switch (key) {
	case OPT_SLO:
		return add_assertion(o, key, &o->slos, &o->slos_cnt, arg);
	case OPT_SLO_WINDOW:
		if (!value__duration(arg, &o->slo_window_ns) || o->slo_window_ns < MIN_WINDOW_NS ||
		    o->slo_window_ns > MAX_WINDOW_NS)
			return bad_value(o, "--slo-window", arg,
					 "not a time with its unit from 100ms to 60s");
		return 0;
	case OPT_ON_SLOW:
		if (!arg[strspn(arg, " \t\n")])
			return bad_value(o, "--on-slow", arg, "not a command");
		o->on_slow = arg;
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
		return add_glob(o, "--session", arg,
				(struct globs){&o->sessions, &o->sessions_cnt});
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
	case OPT_SESSION_ID:
		if (!session_id__parse(&o->session_id, arg))
			return bad_value(o, "--session-id", arg,
					 "not one value, as arg2, req->id, arg1:s or otel");
		return 0;
	case OPT_TRACE_ID:
		if (!session_id__parse_bytes(&o->session_id, arg))
			return bad_value(o, "--trace-id", arg,
					 "not as arg1+16, where 16 bytes lie; text is for "
					 "--session-id");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_format(struct options *o, char *arg)
{
	char names[FORMAT_NAMES];

	if (o->verb == VERB_DOCTOR && strcmp(arg, "text") && strcmp(arg, "json"))
		return bad_value(o, "-f", arg, "not one of text, json");
	if (o->verb == VERB_DOCTOR && !strcmp(arg, "text")) {
		o->sink = NULL;
		return 0;
	}
	o->sink = sink__find(arg);
	if (!o->sink)
		return complain(o, "-f %s: not one of %s; see proftrace --help", arg,
				sink__names(names, sizeof(names)));
	return 0;
}

static error_t parse_samples(struct options *o, int key, char *arg)
{
	switch (key) {
	case OPT_SAMPLE_RATE:
		o->sample_rate = 0;
		if (strcmp(arg, "0") && !value__number(arg, SAMPLE_RATE_MAX, &o->sample_rate))
			return bad_value(o, "--sample-rate", arg,
					 "not a number of samples a second, from 0 to 10000");
		return 0;
	case OPT_NO_SAMPLES:
		o->no_samples = true;
		return 0;
	case OPT_INLINES:
		o->inlines = INLINES_ALL;
		return 0;
	case OPT_NO_INLINES:
		o->inlines = INLINES_NONE;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_result(struct options *o, int key, char *arg)
{
	switch (key) {
	case 'f':
		return parse_format(o, arg);
	case 'o':
		if (strcmp(arg, "-"))
			return take_place(o, "-o", &o->output, arg);
		/* By habit what is there without it. */
		o->output = o->verb == VERB_RECORD ? STDOUT_PATH : NULL;
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
		return add_glob(o, "--hist", arg, (struct globs){&o->hists, &o->hists_cnt});
	case OPT_RAW:
		o->raw = true;
		return 0;
	case OPT_NO_PAGER:
		o->no_pager = true;
		return 0;
	case OPT_PROCESS_FRAMES:
		o->sink_opts.process_frames = true;
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
		return option_append(&o->threads, &o->threads_cnt, arg) ? 0 : ENOMEM;
	case OPT_RANGE:
		if (!parse_range(o, arg))
			return bad_value(o, "--range", arg,
					 "not a range of time, as 1.5s..2s, ..500ms, 3..");
		return 0;
	case OPT_RUN:
		if (!value__number(arg, MAX_RUN, &o->run))
			return bad_value(o, "--run", arg, "not a number from 1 on");
		return 0;
	case OPT_ASSERT:
		return add_assertion(o, key, &o->assertions, &o->assertions_cnt, arg);
	case OPT_CHECK:
		o->check = true;
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

static error_t parse_fleet(struct options *o, int key, char *arg)
{
	switch (key) {
	case OPT_TO:
		return take_place(o, "--to", &o->to, arg);
	case OPT_FROM:
		return take_place(o, "--from", &o->from, arg);
	case OPT_WHERE:
		if (o->wheres_cnt == OPTIONS_WHERES_MAX)
			return complain(o, "--where %s: more than two cannot be compared", arg);
		if (condition__wrong(arg))
			return complain(o, "--where %s: %s; as \"service = 'api'\"", arg,
					condition__wrong(arg));
		o->wheres[o->wheres_cnt++] = arg;
		return 0;
	case OPT_SERVICE:
		o->service = arg;
		return 0;
	case OPT_SERVICE_VERSION:
		o->version = arg;
		return 0;
	case OPT_HOST:
		o->host = arg;
		return 0;
	case OPT_CA_FILE:
		return take_place(o, "--ca-file", &o->ca_file, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

error_t option_take(struct options *o, int key, char *arg)
{
	static error_t (*const groups[])(struct options *, int, char *) = {
		parse_whom,    parse_functions, parse_budget, parse_run,     parse_view,
		parse_session, parse_fleet,	parse_result, parse_samples, parse_slo,
	};
	error_t err = ARGP_ERR_UNKNOWN;

	for (size_t i = 0; err == ARGP_ERR_UNKNOWN && i < sizeof(groups) / sizeof(*groups); i++)
		err = groups[i](o, key, arg);
	return err;
}
