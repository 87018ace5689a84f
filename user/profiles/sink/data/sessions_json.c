// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/profile.h"
#include "calls/values.h"
#include "calls/session_data.h"
#include "sink/listing.h"
#include "sink/data/why_json.h"
#include "sink/why/session_ranks.h"
#include "sink/sessions.h"
#include "util/json.h"

struct sessions_writer {
	struct json *j;
	const struct profile *p;
	const struct sessions *s;
	const struct listing *functions;
	struct session_ranks ranks;
};

static void write_value(struct json *j, const struct call_value *v)
{
	json_key(j, "value");
	switch (v->kind) {
	case VALUE_INT:
		json_i64(j, v->i);
		break;
	case VALUE_UINT:
		json_u64(j, v->u);
		break;
	case VALUE_FLOAT:
		json_double(j, v->f);
		break;
	case VALUE_TEXT:
		json_string(j, v->text);
		break;
	default:
		json_null(j);
	}
}

static void write_values(const struct sessions_writer *w, const struct session_call *c)
{
	uint32_t function = w->s->paths[c->path].function, cnt;
	const struct profile_argument *a = profile__arguments(w->p, function, &cnt);

	json_member_open(w->j, "arguments", '[');
	for (uint32_t i = 0; i < c->values_cnt; i++) {
		json_open(w->j, '{');
		json_member_string(w->j, "name", i < cnt ? a[i].name : NULL);
		write_value(w->j, &c->values[i]);
		json_close(w->j, '}');
	}
	json_close(w->j, ']');
}

/* Writes the tid as the JSON format has it: for a goroutine its number. */
static void write_tid(struct json *j, const struct profile_thread *t)
{
	json_member_i64(j, "tid", t->goroutine ? (int64_t)t->goroutine : t->tid);
}

static void open_call(const struct sessions_writer *w, const struct session *session, size_t number)
{
	const struct session_call *c = &session->calls[number];
	struct json *j = w->j;

	json_open(j, '{');
	json_member_u64(j, "id", number + 1);
	json_member_u64(j, "function", w->functions[w->s->paths[c->path].function].id);
	json_member_u64(j, "calls", 1);
	json_member_u64(j, "start_ns", c->enter_ns);
	json_member_u64(j, "total_ns", c->leave_ns - c->enter_ns);
	json_member_u64(j, "self_ns", session_call__self_ns(c));
	json_member_u64(j, "off_ns", c->off_ns);
	json_member_u64(j, "off_self_ns", session_call__off_self_ns(c));
	if (!c->caller)
		write_tid(j, &w->s->threads[c->thread]);
	if (c->values_cnt)
		write_values(w, c);
	json_member_open(j, "children", '[');
}

static void close_call(struct json *j)
{
	json_close(j, ']');
	json_close(j, '}');
}

/* The calls of the thread where it began, or of the others. */
static void write_calls(const struct sessions_writer *w, const struct session *session, bool others)
{
	uint32_t open = 0; /* from 1 on; 0: none */

	for (size_t i = 0; i < session->calls_cnt && !ferror_unlocked(w->j->out); i++) {
		const struct session_call *c = &session->calls[i];

		if ((c->thread != session->thread) != others)
			continue;
		for (; open != c->caller; open = session->calls[open - 1].caller)
			close_call(w->j);
		open_call(w, session, i);
		open = i + 1;
	}
	for (; open; open = session->calls[open - 1].caller)
		close_call(w->j);
}

static void write_sessions(const struct sessions_writer *w, const char *key,
			   const struct session *sessions, size_t cnt)
{
	struct json *j = w->j;

	json_member_open(j, key, '[');
	for (size_t i = 0; i < cnt; i++) {
		const struct session *session = &sessions[i];
		const struct profile_thread *t = &w->s->threads[session->thread];

		json_open(j, '{');
		if (w->s->ids_asked)
			json_member_string(j, "id", session->id);
		json_member_i64(j, "pid", t->pid);
		write_tid(j, t);
		json_member_u64(j, "start_ns", session->start_ns);
		json_member_u64(j, "duration_ns", session->duration_ns);
		json_member_u64(j, "queue_ns", session->queue_ns);
		json_member_u64(j, "calls_missing", session->calls_missing);
		why_json__chain(j, w->p, w->functions, session);
		json_member_open(j, "calls", '[');
		write_calls(w, session, false);
		write_calls(w, session, true);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_class(struct json *j, const char *key, uint64_t cnt, uint64_t total_ns,
			uint64_t queue_ns)
{
	json_member_open(j, key, '{');
	json_member_u64(j, "count", cnt);
	json_member_u64(j, "total_ns", total_ns);
	json_member_u64(j, "queue_ns", queue_ns);
	json_close(j, '}');
}

static int write_group(const struct sessions_writer *w, const struct session_group *g)
{
	struct json *j = w->j;
	int err;

	json_open(j, '{');
	json_member_u64(j, "function", w->functions[g->function].id);
	json_member_u64(j, "count", g->count);
	json_member_u64(j, "open", g->open);
	json_member_double(j, "rate_per_second", g->per_second);
	json_member_u64(j, "p50_ns", g->p50_ns);
	json_member_u64(j, "p90_ns", g->p90_ns);
	json_member_u64(j, "p99_ns", g->p99_ns);
	json_member_u64(j, "min_ns", g->min_ns);
	json_member_u64(j, "max_ns", g->max_ns);
	json_member_u64(j, "over", g->over);
	write_class(j, "slow", g->slow_cnt, g->slow_total_ns, g->slow_queue_ns);
	write_class(j, "usual", g->usual_cnt, g->usual_total_ns, g->usual_queue_ns);
	err = why_json__write(j, w->p, w->functions, &w->ranks, g);
	write_sessions(w, "slowest", g->slowest, g->slowest_cnt);
	write_sessions(w, "sample", g->sample, g->sample_cnt);
	json_close(j, '}');
	return err;
}

static void write_paths(const struct sessions_writer *w)
{
	struct json *j = w->j;

	json_member_open(j, "session_paths", '[');
	for (size_t i = 1; i < w->s->paths_cnt; i++) {
		const struct session_path *path = &w->s->paths[i];

		json_open(j, '{');
		json_member_u64(j, "id", i);
		json_member_u64(j, "parent", path->parent);
		json_member_u64(j, "function", w->functions[path->function].id);
		json_member_u64(j, "slow_ns", path->slow_ns);
		json_member_u64(j, "slow_off_ns", path->slow_off_ns);
		json_member_u64(j, "usual_ns", path->usual_ns);
		json_member_u64(j, "usual_off_ns", path->usual_off_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_links(struct json *j, const struct sessions *s)
{
	json_member_open(j, "session_links", '[');
	for (size_t i = 0; i < s->links_cnt; i++) {
		const struct session_link_stats *l = &s->links[i];

		json_open(j, '{');
		json_member_u64(j, "submits", l->submits);
		json_member_u64(j, "runs", l->runs);
		json_member_u64(j, "matched", l->matched);
		json_member_u64(j, "joined", l->joined);
		json_member_u64(j, "unreadable", l->keyless);
		json_member_u64(j, "forgotten", l->forgotten);
		json_close(j, '}');
	}
	json_close(j, ']');
}

int sessions_json__write(struct json *j, const struct profile *p, const struct listing *functions)
{
	struct sessions_writer w = {.j = j, .p = p, .s = p->sessions, .functions = functions};
	int err;

	if (!p->sessions)
		return 0;
	err = session_ranks__init(&w.ranks, w.s);
	json_member_open(j, "sessions", '[');
	for (size_t i = 0; i < w.s->groups_cnt && !err; i++) {
		if (w.s->groups[i].count || w.s->groups[i].open)
			err = write_group(&w, &w.s->groups[i]);
	}
	json_close(j, ']');
	session_ranks__fini(&w.ranks);
	write_paths(&w);
	write_links(j, w.s);
	return err;
}
