// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long sessions took, which paths make slow ones slow, and where the calls of the slowest are
 * in the document: they are threads of it. Of the sessions' paths only those that are spoken of are
 * written, and their callers.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/distribution.h"
#include "calls/function_glob.h"
#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/names.h"
#include "sink/page/page.h"
#include "sink/why/session_ranks.h"
#include "sink/why/session_why.h"
#include "sink/why/why_part.h"
#include "sink/sink.h"
#include "sink/text/why_text.h"
#include "util/json.h"
#include "util/search.h"

#define DEAREST_MAX 3  /* paths of a session */
#define REASONS_MAX 50 /* paths that make sessions slow */

struct sessions_page {
	struct json *j;
	const struct profile *p;
	const struct page_numbers *numbers;
	struct session_ranks ranks;
	bool *spoken_of; /* by path */
};

/* The document's threads that the session is, without those that nothing is shown of. */
static void write_parts(const struct sessions_page *w, const struct session *session)
{
	const struct page_numbers *n = w->numbers;
	uint32_t end = session->first_part + session->parts_cnt;
	size_t at = LOWER_BOUND(n->threads_cnt, i, n->threads[i] < session->first_part);

	json_member_open(w->j, "threads", '[');
	for (; at < n->threads_cnt && n->threads[at] < end; at++)
		json_u64(w->j, at);
	json_close(w->j, ']');
}

static int write_session(struct sessions_page *w, const struct session *session)
{
	struct session_cost *dearest;
	size_t cnt;
	int err = session_ranks__dearest(&w->ranks, session, &dearest, &cnt);

	if (err)
		return err;
	json_open(w->j, '{');
	if (session->id)
		json_member_string(w->j, "id", session->id);
	json_member_u64(w->j, "start", session->start_ns);
	json_member_u64(w->j, "duration", session->duration_ns);
	json_member_u64(w->j, "queue", session->queue_ns);
	json_member_u64(w->j, "missing", session->calls_missing);
	write_parts(w, session);
	json_member_open(w->j, "dearest", '[');
	for (size_t i = 0; i < cnt && i < DEAREST_MAX; i++) {
		json_open(w->j, '{');
		json_member_u64(w->j, "path", dearest[i].path);
		json_member_u64(w->j, "self", dearest[i].self_ns);
		json_member_u64(w->j, "off", dearest[i].off_ns);
		json_close(w->j, '}');
		w->spoken_of[dearest[i].path] = true;
	}
	json_close(w->j, ']');
	json_close(w->j, '}');
	free(dearest);
	return 0;
}

static int write_slowest(struct sessions_page *w, const struct session_group *g)
{
	int err = 0;

	json_member_open(w->j, "slowest", '[');
	for (size_t i = 0; i < g->slowest_cnt && !err; i++)
		err = write_session(w, &g->slowest[i]);
	json_close(w->j, ']');
	return err;
}

static void write_reason(struct sessions_page *w, const struct session_reason *r)
{
	struct json *j = w->j;

	json_open(j, '{');
	json_key(j, "path");
	if (r->path)
		json_u64(j, r->path);
	else
		json_null(j); /* in queues */
	json_member_u64(j, "slow", r->slow_ns);
	json_member_u64(j, "usual", r->usual_ns);
	json_member_u64(j, "more", r->more_ns);
	json_member_i64(j, "off", r->more_off_ns);
	json_close(j, '}');
	w->spoken_of[r->path] = true;
}

static int write_reasons(struct sessions_page *w, const struct session_group *g)
{
	struct session_reason *reasons;
	size_t cnt;
	int err = session_ranks__reasons(&w->ranks, g, &reasons, &cnt);

	if (err)
		return err;
	json_member_u64(w->j, "slow", g->slow_cnt);
	json_member_u64(w->j, "usual", g->usual_cnt);
	json_member_i64(w->j, "more", session_group__more_ns(g));
	json_member_u64(w->j, "reasons_cnt", cnt);
	json_member_open(w->j, "reasons", '[');
	for (size_t i = 0; i < cnt && i < REASONS_MAX; i++)
		write_reason(w, &reasons[i]);
	json_close(w->j, ']');
	free(reasons);
	return 0;
}

#define PARTS_MAX 20 /* of what p99 sessions take longer */

/* Why p99 sessions take longer, where waits were recorded: a sentence, and its parts. */
static int write_why(struct sessions_page *w, const struct session_group *g)
{
	char sentence[WHY_SENTENCE], text[WHY_TEXT];
	struct session_why why;
	int err = session_why__find(w->p, &w->ranks, g, &why);

	if (!err && why.cnt) {
		json_member_open(w->j, "why", '{');
		json_member_string(w->j, "sentence", session_why__sentence(w->p, &why, sentence));
		json_member_u64(w->j, "worst", g->worst_cnt);
		json_member_u64(w->j, "more", (uint64_t)why.longer_ns);
		json_member_open(w->j, "parts", '[');
		for (size_t i = 0; i < why.cnt && i < PARTS_MAX; i++) {
			const struct why_part *part = &why.parts[i];

			json_open(w->j, '{');
			json_member_i64(w->j, "more", (int64_t)part->more_ns);
			json_member_u64(w->j, "worst", (uint64_t)part->worst_ns);
			json_member_u64(w->j, "usual", (uint64_t)part->usual_ns);
			json_member_string(w->j, "text", why_part__text(w->p, part, text));
			json_close(w->j, '}');
		}
		json_close(w->j, ']');
		json_close(w->j, '}');
	}
	session_why__fini(&why);
	return err;
}

/* Writes a function's number in the document, or its name if the document shows no call of it. */
static void write_function(const struct sessions_page *w, uint32_t function)
{
	uint32_t number = w->numbers->functions[function];

	if (number)
		json_u64(w->j, number - 1);
	else
		json_string(w->j, function__name(&w->p->functions[function]));
}

static int write_group(struct sessions_page *w, const struct session_group *g)
{
	struct json *j = w->j;
	int err;

	json_open(j, '{');
	json_key(j, "function");
	write_function(w, g->function);
	json_member_u64(j, "count", g->count);
	json_member_u64(j, "open", g->open);
	json_member_double(j, "per_second", g->per_second);
	json_member_u64(j, "p50", g->p50_ns);
	json_member_u64(j, "p90", g->p90_ns);
	json_member_u64(j, "p99", g->p99_ns);
	json_member_u64(j, "max", g->max_ns);
	err = write_slowest(w, g);
	if (!err)
		err = write_reasons(w, g);
	if (!err)
		err = write_why(w, g);
	json_close(j, '}');
	return err;
}

/* Writes each path that is referred to: its number, its caller's number (0: it is a session's own
 * call), and its function. Callers stand before callees. */
static void write_paths(struct sessions_page *w)
{
	const struct session_path *paths = w->p->sessions->paths;
	size_t cnt = w->p->sessions->paths_cnt, i;

	for (i = cnt; i-- > 1;) {
		if (w->spoken_of[i])
			w->spoken_of[paths[i].parent] = true;
	}
	json_member_open(w->j, "paths", '[');
	for (i = 1; i < cnt && !ferror_unlocked(w->j->out); i++) {
		if (!w->spoken_of[i])
			continue;
		json_u64(w->j, i);
		json_u64(w->j, paths[i].parent);
		write_function(w, paths[i].function);
	}
	json_close(w->j, ']');
}

/* A function's calls as sessions, of which none was kept. */
static void write_distribution(const struct sessions_page *w, uint32_t function)
{
	const struct call_stats *s = &w->p->functions[function].stats;
	const struct distribution d = distribution__of(w->p, function);
	double seconds = (double)w->p->duration_ns / 1e9;
	struct json *j = w->j;

	json_open(j, '{');
	json_key(j, "function");
	write_function(w, function);
	/* Calls are counted as in the page's other tables: distributions are read later. */
	json_member_u64(j, "count", s->calls);
	json_member_double(j, "per_second", seconds > 0 ? (double)s->calls / seconds : 0);
	json_member_u64(j, "p50", distribution__quantile(&d, 0.5, s->min_ns, s->max_ns));
	json_member_u64(j, "p90", distribution__quantile(&d, 0.9, s->min_ns, s->max_ns));
	json_member_u64(j, "p99", distribution__quantile(&d, 0.99, s->min_ns, s->max_ns));
	json_member_u64(j, "max", distribution__quantile(&d, 1, s->min_ns, s->max_ns));
	json_close(j, '}');
}

static void write_distributions(const struct sessions_page *w, const struct sink_options *opts)
{
	struct json *j = w->j;

	json_open(j, '{');
	json_member_open(j, "groups", '[');
	for (uint32_t i = 0; i < w->p->functions_cnt; i++) {
		const struct profile_function *f = &w->p->functions[i];

		if (f->stats.calls &&
		    function_glob__any_matches(opts->sessions, opts->sessions_cnt, f))
			write_distribution(w, i);
	}
	json_close(j, ']');
	json_close(j, '}');
}

int page_sessions__write(struct json *j, const struct profile *p, const struct sink_options *opts,
			 const struct page_numbers *n)
{
	struct sessions_page w = {.j = j, .p = p, .numbers = n};
	const struct sessions *s = p->sessions;
	int err;

	if (!s) {
		if (opts->sessions_cnt)
			write_distributions(&w, opts);
		else
			json_null(j);
		return 0;
	}
	err = session_ranks__init(&w.ranks, s);
	w.spoken_of = calloc(s->paths_cnt + 1, sizeof(*w.spoken_of));
	if (!w.spoken_of)
		err = -ENOMEM;
	json_open(j, '{');
	json_member_open(j, "groups", '[');
	for (size_t i = 0; i < s->groups_cnt && !err; i++) {
		if (s->groups[i].count || s->groups[i].open)
			err = write_group(&w, &s->groups[i]);
	}
	json_close(j, ']');
	if (!err)
		write_paths(&w);
	json_close(j, '}');
	session_ranks__fini(&w.ranks);
	free(w.spoken_of);
	return err;
}
