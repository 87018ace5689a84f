// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/find_sessions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls/function_glob.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "sessions/sessions.h"
#include "util/log.h"
#include "util/otel_context.h"

/* Sets functions[] of those that --session names. Of a recording it was checked before that each
 * glob names one (show__filter()); live the run is over by now, and what it has found is shown. */
static void choose_functions(const struct options *o, const struct profile *p, bool *functions)
{
	for (size_t g = 0; g < o->sessions_cnt; g++) {
		bool found = false;

		for (size_t i = 0; i < p->functions_cnt; i++) {
			if (!function_glob__matches(o->sessions[g], &p->functions[i]))
				continue;
			functions[i] = found = true;
		}
		if (!found)
			log_warn("--session %s: no such function was traced", o->sessions[g]);
	}
}

static void tell_side(const struct link_option *l, const char *function, const char *value,
		      uint32_t functions)
{
	if (!functions)
		log_warn("--link '%s': no function %s has a recorded value %s: record with -A "
			 "'%s(%s)'",
			 l->text, function, value, function, value);
}

static void tell_link(const struct link_option *l, const struct session_link_stats *s)
{
	tell_side(l, l->submit, l->submit_value, s->submit_functions);
	tell_side(l, l->run, l->run_value, s->run_functions);
	if (s->submit_functions && s->run_functions && !s->matched)
		log_warn("--link '%s' never matched: %" PRIu64 " calls of %s, %" PRIu64 " of %s",
			 l->text, s->submits, l->submit, s->runs, l->run);
	else if (s->matched)
		log_info("--link '%s': %" PRIu64 " of %" PRIu64
			 " calls of %s matched one of %" PRIu64 " of %s; %" PRIu64
			 " continue a session",
			 l->text, s->matched, s->runs, l->run, s->submits, l->submit, s->joined);
	if (s->matched && !s->joined)
		log_warn("--link '%s': no such call of %s was made in a session", l->text,
			 l->submit);
	if (s->keyless)
		log_warn("--link '%s': of %" PRIu64 " calls the value could not be read", l->text,
			 s->keyless);
	if (s->forgotten)
		log_warn("--link '%s': there was no room for %" PRIu64 " calls: --range chooses "
			 "fewer",
			 l->text, s->forgotten);
}

/* Whether a recording has thread contexts, which are the sessions' ids if no others were asked for.
 */
static bool has_contexts(const struct profile *p)
{
	for (size_t i = 0; i < p->arguments_cnt; i++) {
		if (!strncmp(p->arguments[i].name, OTEL_CONTEXT_TRACE, strlen(OTEL_CONTEXT_TRACE)))
			return true;
	}
	return false;
}

static void tell_contexts(const struct sessions *s)
{
	if (s->ids_asked && !s->ids_known)
		log_warn("--session-id otel: no session began with a thread context of "
			 "OpenTelemetry, or none was recorded: record with -A 'FUNC(" OTEL_CONTEXT
			 ")'");
	else if (s->ids_known < s->ids_asked)
		log_info("--session-id otel: %" PRIu64 " of %" PRIu64
			 " sessions had no thread context as they began",
			 s->ids_asked - s->ids_known, s->ids_asked);
}

/* `rest`: the second value of a trace id; NULL: the id is one value. */
static void tell_no_ids(const char *session, const char *value, const char *rest)
{
	if (rest)
		log_warn("--trace-id: no session has a recorded value %s and %s: record with -A "
			 "'%s(%s, %s)'",
			 value, rest, session, value, rest);
	else
		log_warn("--session-id: no session has a recorded value %s: record with -A "
			 "'%s(%s)'",
			 value, session, value);
}

static void tell_ids(const struct options *o, const struct sessions *s)
{
	const char *value = o->session_id.value, *rest = o->session_id.rest;

	if (o->session_id.is_context)
		tell_contexts(s);
	else if (s->ids_asked && !s->ids_known)
		tell_no_ids(o->sessions[0], value, rest);
	else if (s->ids_known < s->ids_asked)
		log_info("%s: of %" PRIu64 " of %" PRIu64 " sessions the id could not be read",
			 rest ? "--trace-id" : "--session-id", s->ids_asked - s->ids_known,
			 s->ids_asked);
}

int find_sessions(const struct options *o, const struct profile *p, struct sessions **out)
{
	bool *functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	struct session_link *links = calloc(o->links_cnt + 1, sizeof(*links));
	const bool context = o->session_id.value ? o->session_id.is_context : has_contexts(p);
	const struct session_spec spec = {
		.functions = functions,
		.slowest = o->slowest,
		.over_ns = o->over_ns,
		.links = links,
		.links_cnt = o->links_cnt,
		.cut_at_start = o->ranged && o->from_ns,
		.id = {o->session_id.value, o->session_id.rest, context},
	};
	int err = functions && links ? 0 : -ENOMEM;

	if (!err)
		choose_functions(o, p, functions);
	for (size_t i = 0; i < o->links_cnt && !err; i++) {
		const struct link_option *l = &o->links[i];

		links[i] = (struct session_link){l->submit, l->submit_value, l->run, l->run_value};
	}
	if (!err)
		err = sessions__find(p, &spec, out);
	if (err)
		log_error("--session: cannot look at single calls: %s", strerror(-err));
	for (size_t i = 0; i < o->links_cnt && !err; i++)
		tell_link(&o->links[i], &(*out)->links[i]);
	if (!err)
		tell_ids(o, *out);
	free(functions);
	free(links);
	return err;
}
