// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/show.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "calls/function_glob.h"
#include "calls/profile.h"
#include "calls/tree.h"
#include "cli/options.h"
#include "report/find_sessions.h"
#include "report/output.h"
#include "sessions/session_profile.h"
#include "sessions/sessions.h"
#include "sink/sink.h"
#include "sink/text/sessions_summary.h"
#include "timeline/timeline.h"
#include "timeline/timeline_view.h"
#include "util/log.h"
#include "views/by_value.h"
#include "views/merge.h"
#include "views/filter.h"
#include "views/prune.h"
#include "views/range.h"

/* Logs the first glob that nothing was found for. */
static int check_found(const char *option, char *const *globs, size_t cnt, const bool *found,
		       const char *what, size_t profiles)
{
	for (size_t g = 0; g < cnt; g++) {
		if (found[g])
			continue;
		log_error("%s %s: the recording%s such %s", option, globs[g],
			  profiles == 1 ? " has no" : "s have no", what);
		return -ENOENT;
	}
	return 0;
}

/* Sets keep[] of the functions that match, and found[] of the globs that match some. */
static void choose_functions(const struct profile *p, char *const *globs, size_t cnt, bool chosen,
			     bool *keep, bool *found)
{
	for (size_t g = 0; g < cnt; g++) {
		for (size_t i = 0; i < p->functions_cnt; i++) {
			if (!function_glob__matches(globs[g], &p->functions[i]))
				continue;
			keep[i] = chosen;
			found[g] = true;
		}
	}
}

/* By its name, or its number: of a goroutine that of its own. */
static bool thread_matches(const char *glob, const struct profile_thread *t)
{
	uint64_t number = t->goroutine ? t->goroutine : (uint64_t)t->tid;
	char *end;

	if (!fnmatch(glob, t->comm, 0))
		return true;
	return *glob >= '0' && *glob <= '9' && strtoull(glob, &end, 10) == number && !*end;
}

static void choose_threads(const struct profile *p, const struct options *o, bool *keep,
			   bool *found)
{
	for (size_t g = 0; g < o->threads_cnt; g++) {
		for (size_t i = 0; i < p->threads_cnt; i++) {
			if (thread_matches(o->threads[g], &p->threads[i]))
				found[g] = keep[i] = true;
		}
	}
}

static int cut_range(const struct options *o, struct profile *p)
{
	int err;

	if (!p->timeline) {
		log_error("--range: the recording has no single calls: record with --calls");
		return -ENODATA;
	}
	err = profile__cut(p, &(struct time_range){o->from_ns, o->to_ns});
	if (err == -ERANGE)
		log_error("--range: the run took no more than %.6f s",
			  (double)p->duration_ns / 1e9);
	else if (err)
		log_error("--range: cannot look at single calls: %s", strerror(-err));
	return err;
}

/* For each glob of these options, whether it has matched anything yet. */
struct matches {
	bool *filters, *notraces, *threads;
};

static int narrow(const struct options *o, struct profile *p, struct matches *found)
{
	bool *functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	bool *threads = calloc(p->threads_cnt + 1, sizeof(*threads));
	struct profile_filter what = {.depth = o->depth};
	int err = -ENOMEM;

	if (functions && threads) {
		if (!o->filters_cnt)
			memset(functions, true, p->functions_cnt);
		choose_functions(p, o->filters, o->filters_cnt, true, functions, found->filters);
		choose_functions(p, o->notraces, o->notraces_cnt, false, functions,
				 found->notraces);
		choose_threads(p, o, threads, found->threads);
		what.functions = o->filters_cnt || o->notraces_cnt ? functions : NULL;
		what.threads = o->threads_cnt ? threads : NULL;
		err = profile__filter(p, &what);
	}
	free(functions);
	free(threads);
	return err;
}

int show__possible(const struct options *o, const struct profile *p)
{
	if (o->sink && o->sink->needs_lines && !p->lines_cnt) {
		log_error("%s needs lines of source, of which the recording has none: record with "
			  "--lines FUNC, or --lines FILE:FROM-TO",
			  o->sink->name);
		return -ENODATA;
	}
	if (p->timeline)
		return 0;
	if (o->sessions_cnt) {
		log_error("--session needs single calls, of which the recording has none: record "
			  "with --calls");
		return -ENODATA;
	}
	if (!o->sink || !o->sink->needs_calls)
		return 0;
	log_error("%s needs single calls, of which the recording has none: record with --calls",
		  o->sink->name);
	return -ENODATA;
}

int show__filter_all(const struct options *o, struct profile *const *p, size_t cnt)
{
	struct matches found;
	int err = 0;

	for (size_t i = 0; o->ranged && i < cnt && !err; i++)
		err = cut_range(o, p[i]);
	if (err)
		return err;
	if (!o->filters_cnt && !o->notraces_cnt && !o->threads_cnt && !o->depth)
		return 0;
	found.filters = calloc(o->filters_cnt + 1, sizeof(bool));
	found.notraces = calloc(o->notraces_cnt + 1, sizeof(bool));
	found.threads = calloc(o->threads_cnt + 1, sizeof(bool));
	if (!found.filters || !found.notraces || !found.threads)
		err = -ENOMEM;
	for (size_t i = 0; i < cnt && !err; i++)
		err = narrow(o, p[i], &found);
	if (err)
		log_error("cannot put the profile together: %s", strerror(-err));
	if (!err)
		err = check_found("-F", o->filters, o->filters_cnt, found.filters, "function", cnt);
	if (!err)
		err = check_found("-N", o->notraces, o->notraces_cnt, found.notraces, "function",
				  cnt);
	if (!err)
		err = check_found("--thread", o->threads, o->threads_cnt, found.threads, "thread",
				  cnt);
	free(found.filters);
	free(found.notraces);
	free(found.threads);
	return err;
}

int show__split(const struct options *o, struct profile *p, struct value_names *names)
{
	int err;

	if (!o->by)
		return 0;
	if (!p->timeline) {
		log_error("--by %s: the recording has no single calls: record with -A", o->by);
		return -ENODATA;
	}
	err = profile__split(p, o->by, names);
	/* Live, the run is over by now: then what it has found is shown in one. */
	if (err == -ENOENT && o->verb == VERB_TRACE) {
		log_warn("--by %s: no function that was traced has such a value", o->by);
		return 0;
	}
	if (!err && !o->ranged)
		err = profile__cut(p, &(struct time_range){0, UINT64_MAX});
	if (err == -ENOENT)
		log_error("--by %s: no function has such a value (-A)", o->by);
	else if (err)
		log_error("--by %s: cannot look at single calls: %s", o->by, strerror(-err));
	return err;
}

/* Each glob must name a function: a histogram or a session of nothing is no answer, though the rest
 * would be one. */
static int check_named(const char *option, char *const *globs, size_t cnt, const struct profile *p)
{
	for (size_t g = 0; g < cnt; g++) {
		bool found = false;

		for (size_t i = 0; i < p->functions_cnt && !found; i++)
			found = function_glob__matches(globs[g], &p->functions[i]);
		if (check_found(option, &globs[g], 1, &found, "function", 1))
			return -ENOENT;
	}
	return 0;
}

int show__filter(const struct options *o, struct profile *p)
{
	/* In a live run --hist and --session were checked earlier, by the plan. */
	const bool recorded = o->verb == VERB_REPORT;
	int err = recorded ? check_named("--hist", o->hists, o->hists_cnt, p) : 0;

	if (!err)
		err = show__filter_all(o, &p, 1);
	if (!err && recorded)
		err = check_named("--session", o->sessions, o->sessions_cnt, p);
	return err;
}

/* Formats for people begin with why sessions are slow; of others it is told beside them. */
static void tell_why(const struct sink *sink, const struct profile *p)
{
	char *text, *rest, *line;

	if ((sink->accounts && sink->shows_sessions) || sessions_summary__lines(p, &text))
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (*line)
			log_info("%s", line);
	}
	free(text);
}

static bool keeps_calls(const struct sink *sink)
{
	return sink->shows_calls || sink->reads_calls;
}

/* Formats that show sessions beside what the run has called get both, the others a profile of those
 * that are kept. */
static int look_for_sessions(const struct output *out, const struct options *o, struct profile *p)
{
	struct sessions *s;
	int err = find_sessions(o, p, &s);

	if (err)
		return err;
	if (out->sink->shows_sessions)
		p->sessions = s;
	else
		err = profile__of_sessions(p, s, keeps_calls(out->sink));
	if (err)
		log_error("cannot put the sessions together: %s", strerror(-err));
	else
		tell_why(out->sink, p);
	return err;
}

int show__write(struct output *out, const struct options *o, struct profile **p)
{
	int err = o->sessions_cnt ? look_for_sessions(out, o, *p) : 0;

	if (err)
		return err;

	/* On one track calls nest; those of different call stacks do not. */
	if (!keeps_calls(out->sink)) {
		timeline__free((*p)->timeline);
		(*p)->timeline = NULL;
	}
	if (!(*p)->timeline)
		err = profile__join_callstacks(p);
	if (!err)
		err = profile__summarize(*p);
	if (!err)
		err = profile__prune(*p, o->min_time_ns);
	if (!err)
		return output__write(out, *p);
	log_error("cannot put the profile together: %s", strerror(-err));
	return err;
}
