// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command_line.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/option_check.h"
#include "cli/option_settle.h"
#include "cli/option_suits.h"
#include "cli/option_table.h"
#include "cli/option_take.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "util/log.h"

#define DEFAULT_BUFFER	 (64ull << 20)
#define DEFAULT_BURST_NS 5000000

static size_t inputs_max(enum verb verb)
{
	return verb == VERB_SEND ? OPTIONS_INPUTS_MAX : verb == VERB_DIFF ? 2 : 1;
}

/* A word that is no option: a recording, or the command, with all that follows. */
static error_t parse_word(struct options *o, char *arg, struct argp_state *state)
{
	bool runs = o->verb == VERB_TRACE || o->verb == VERB_RECORD;

	/* An empty word, as from a shell's variable that is not set. */
	if (!*arg && !runs)
		return complain(o, "'': a word that is empty names no file; see proftrace --help");
	if (o->verb == VERB_TOP)
		return complain(o,
				"%s: top shows processes that run, by -p or -x; a command would "
				"write to the same screen",
				arg);
	/* check has a recording, or behind -- a command. */
	if (runs || (o->verb == VERB_CHECK && state->quoted)) {
		if (!state->quoted && verb__find(arg) != VERB_TRACE)
			return complain(o,
					"%s: a verb is the first word, before all options; a "
					"command of that name goes behind --",
					arg);
		o->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	}
	if (o->verb == VERB_DOCTOR)
		return complain(o, "%s: doctor takes no words, it looks at this machine", arg);
	if (o->verb == VERB_AGENT && o->inputs_cnt)
		return complain(o, "%s: agent takes one configuration, which is %s", arg,
				o->inputs[0]);
	if (o->inputs_cnt == inputs_max(o->verb))
		return complain(o, "%s: %s reads no more than %zu recording%s", arg,
				verbs[o->verb].name, o->inputs_cnt, o->inputs_cnt == 1 ? "" : "s");
	o->inputs[o->inputs_cnt++] = arg;
	return 0;
}

/* Triggers are traced, whatever else is. */
static error_t add_triggers(struct options *o)
{
	bool ok = true;

	if (!o->triggers_cnt && !o->untils_cnt)
		return 0;
	for (size_t i = 0; ok && i < o->triggers_cnt; i++)
		ok = option_append(&o->filters, &o->filters_cnt, o->triggers[i]);
	for (size_t i = 0; ok && i < o->untils_cnt; i++)
		ok = option_append(&o->filters, &o->filters_cnt, o->untils[i]);
	return ok ? 0 : ENOMEM;
}

/* Functions of which something is asserted are those that are traced, unless others are named;
 * those of rules are, whatever else is. */
static error_t add_asserted(struct options *o)
{
	static char all[] = "*";
	bool ok = true;

	for (size_t i = 0, named = o->filters_cnt; ok && !named && i < o->assertions_cnt; i++)
		ok = option_append(&o->filters, &o->filters_cnt, o->assertions[i].glob);
	/* All of the program may be looked at closer. */
	if (ok && o->slos_cnt && !o->filters_cnt)
		ok = option_append(&o->filters, &o->filters_cnt, all);
	for (size_t i = 0; ok && i < o->slos_cnt; i++)
		ok = option_append(&o->filters, &o->filters_cnt, o->slos[i].glob);
	return ok ? 0 : ENOMEM;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	error_t err;

	switch (key) {
	case 'h':
		help__print(o->verb, stdout);
		o->help = true;
		return ECANCELED;
	case 'V':
		printf("proftrace %s\n", PROFTRACE_VERSION);
		o->help = true;
		return ECANCELED;
	case OPT_COMPLETION:
		if (!completion__print(arg, stdout))
			return complain(o, "--completion %s: not one of bash, zsh, fish", arg);
		o->help = true;
		return ECANCELED;
	case ARGP_KEY_ARG:
		return parse_word(o, arg, state);
	case ARGP_KEY_END:
		err = add_asserted(o);
		if (!err)
			err = option_check__all(o);
		return err ? err : add_triggers(o);
	case ARGP_KEY_ERROR:
		o->failed_at = state->next;
		return 0;
	default:
		err = option_take(o, key, arg);
		if (!err && o->verb == VERB_RECORD && option_suits__sessions(key))
			return complain(o, RECORD_SESSIONS, option_table__name(key));
		if (!err && !option_suits__verb(o->verb, key))
			return complain(o, "--%s does not go with %s; see proftrace --help",
					option_table__name(key),
					*verbs[o->verb].name ? verbs[o->verb].name : "live output");
		if (!err)
			option_check__note(o, key);
		return err;
	}
}

/* Takes the verb for the program's name. */
static enum verb parse_verb(int *argc, char ***argv)
{
	enum verb v = *argc > 1 ? verb__find((*argv)[1]) : VERB_TRACE;

	if (v != VERB_TRACE) {
		++*argv;
		--*argc;
	}
	return v;
}

/* Ends --help, --version and --completion, whose text is printed. Returns as options__parse(). */
static int end_help(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 1;
	log_error("cannot write stdout: %s", strerror(errno));
	return 2;
}

int options__parse(struct options *o, int argc, char **argv)
{
	const struct argp argp = {
		.options = option_table,
		.parser = parse_option,
	};
	error_t err;

	*o = (struct options){.argv = argv,
			      .children = true,
			      .max_overhead = OVERHEAD_NOT_GIVEN,
			      .sample_rate = SAMPLE_RATE_NOT_GIVEN,
			      .burst_ns = DEFAULT_BURST_NS,
			      .buffer_size = DEFAULT_BUFFER};
	o->verb = parse_verb(&argc, &argv);
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS, NULL, o);
	if (o->help)
		return end_help();
	if (err == ENOMEM && !o->complained)
		log_no_memory(-err);
	else if (err && !o->complained)
		log_error("%s: no such option, or its value is missing; see proftrace --help",
			  argv[o->failed_at > 1 ? o->failed_at - 1 : argc - 1]);
	if (err)
		return OPTIONS_USAGE_STATUS + 1;
	o->sink_opts.verbose = o->verbose;
	o->sink_opts.raw = o->raw;
	o->sink_opts.hists = o->hists;
	o->sink_opts.hists_cnt = o->hists_cnt;
	if (o->serve.len) {
		o->sink_opts.sessions = o->sessions;
		o->sink_opts.sessions_cnt = o->sessions_cnt;
	}
	return 0;
}

void options__clear(struct options *o)
{
	free(o->pids);
	for (size_t i = 0; i < o->names_cnt; i++)
		free(o->names[i]);
	free(o->names);
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
	session_id__clear(&o->session_id);
	for (size_t i = 0; i < o->assertions_cnt; i++)
		free(o->assertions[i].glob);
	free(o->assertions);
	for (size_t i = 0; i < o->slos_cnt; i++)
		free(o->slos[i].glob);
	free(o->slos);
	*o = (struct options){0};
}
