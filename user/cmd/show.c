// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/show.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "calls/function_glob.h"
#include "calls/merge.h"
#include "calls/narrow.h"
#include "calls/profile.h"
#include "calls/prune.h"
#include "calls/timeline.h"
#include "calls/range.h"
#include "calls/timeline_view.h"
#include "cli/options.h"
#include "cmd/output.h"
#include "util/log.h"

static int matches_nothing(const char *option, const char *glob, const char *what)
{
	log_error("%s %s: the recording has no such %s", option, glob, what);
	return -ENOENT;
}

/* Sets keep[] of the functions that match; all of `globs` must match some. */
static int choose_functions(const struct profile *p, char *const *globs, size_t cnt,
			    const char *option, bool chosen, bool *keep)
{
	for (size_t g = 0; g < cnt; g++) {
		bool found = false;

		for (size_t i = 0; i < p->functions_cnt; i++) {
			if (!function_glob__matches(globs[g], &p->functions[i]))
				continue;
			keep[i] = chosen;
			found = true;
		}
		if (!found)
			return matches_nothing(option, globs[g], "function");
	}
	return 0;
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

static int choose_threads(const struct profile *p, const struct options *o, bool *keep)
{
	for (size_t g = 0; g < o->threads_cnt; g++) {
		bool found = false;

		for (size_t i = 0; i < p->threads_cnt; i++) {
			if (thread_matches(o->threads[g], &p->threads[i]))
				found = keep[i] = true;
		}
		if (!found)
			return matches_nothing("--thread", o->threads[g], "thread");
	}
	return 0;
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

static int narrow_paths(const struct options *o, struct profile *p)
{
	bool *functions = NULL, *threads = NULL;
	struct narrowing what = {.depth = o->depth};
	int err = 0;

	if (!o->filters_cnt && !o->notraces_cnt && !o->threads_cnt && !o->depth)
		return 0;
	functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	threads = calloc(p->threads_cnt + 1, sizeof(*threads));
	if (!functions || !threads)
		err = -ENOMEM;
	if (!err && !o->filters_cnt)
		memset(functions, true, p->functions_cnt);
	if (!err)
		err = choose_functions(p, o->filters, o->filters_cnt, "-F", true, functions);
	if (!err)
		err = choose_functions(p, o->notraces, o->notraces_cnt, "-N", false, functions);
	if (!err)
		err = choose_threads(p, o, threads);
	if (!err) {
		what.functions = o->filters_cnt || o->notraces_cnt ? functions : NULL;
		what.threads = o->threads_cnt ? threads : NULL;
		err = profile__narrow(p, &what);
	}
	if (err == -ENOMEM)
		log_error("cannot put the profile together: %s", strerror(ENOMEM));
	free(functions);
	free(threads);
	return err;
}

int show__possible(const struct options *o, const struct profile *p)
{
	if (!o->sink || !o->sink->needs_calls || p->timeline)
		return 0;
	log_error("%s needs single calls, of which the recording has none: record with --calls",
		  o->sink->name);
	return -ENODATA;
}

int show__narrow(const struct options *o, struct profile *p)
{
	int err = o->ranged ? cut_range(o, p) : 0;

	return err ? err : narrow_paths(o, p);
}

int show__write(struct output *out, const struct options *o, struct profile **p)
{
	int err = 0;

	/* On one track calls nest; those of different lanes do not. */
	if (!out->sink->shows_calls) {
		timeline__free((*p)->timeline);
		(*p)->timeline = NULL;
	}
	if (!(*p)->timeline)
		err = profile__join_lanes(p);
	if (!err)
		err = profile__summarize(*p);
	if (!err)
		err = profile__prune(*p, o->min_time_ns);
	if (!err)
		return output__write(out, *p);
	log_error("cannot put the profile together: %s", strerror(-err));
	return err;
}
