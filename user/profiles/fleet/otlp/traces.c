// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions in OTLP's traces signal: a session is a trace of its own, or, where the application's id
 * of it is a trace's, a part of that one. Its own call is the root span, and of its other calls the
 * longest are spans below: by duration, so that a call never stands without its callers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sessions/trace_context.h"
#include "calls/values.h"
#include "fleet/kind.h"
#include "fleet/otlp/message.h"
#include "record/reader.h"
#include "sink/names.h"
#include "util/proto.h"
#include "util/search.h"

#define SPANS_MAX   256 /* calls of a session, the longest */
#define LEAST_SHARE 100 /* of a session: what takes less is no span, unless told otherwise */

/* Field numbers, by message. */
enum {
	SCOPE_SPANS_SPAN = 2,
	SPAN_TRACE_ID = 1,
	SPAN_ID = 2,
	SPAN_PARENT = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTE = 9,
	SPAN_LINK = 13,
	SPAN_FLAGS = 16,
	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,
	LINK_ATTRIBUTE = 4,
};
enum { KIND_INTERNAL = 1 };
enum { FLAG_KNOWS_REMOTE = 0x100, FLAG_REMOTE = 0x200 }; /* of a span's parent */

struct writer {
	const struct shipment *s;
	const struct profile *p;
	struct proto content, span, link;
	uint64_t spans, sessions_left_out;
	uint8_t trace[OTLP_TRACE_ID];
};

/* A session as spans. */
struct session_spans {
	const struct session *session;
	const char *kind;
	const struct session_call *own;
	bool *chosen; /* by call */
	uint64_t left_out;
};

static const struct profile_function *function_of(const struct writer *w,
						  const struct session_call *c)
{
	return &w->p->functions[w->s->sessions->paths[c->path].function];
}

static void put_span_id(struct writer *w, struct proto *m, uint32_t field,
			const struct session *session, const struct session_call *c)
{
	uint8_t id[OTLP_SPAN_ID];

	otlp_span_id(id, w->s->id, session->number, c ? c->number : 0);
	proto_bytes(m, field, id, sizeof(id));
}

static void put_values(struct writer *w, const struct session_call *c)
{
	uint32_t cnt;
	const struct profile_argument *a =
		profile__arguments(w->p, w->s->sessions->paths[c->path].function, &cnt);

	for (uint32_t i = 0; i < cnt && i < c->values_cnt; i++) {
		const struct call_value *v = &c->values[i];
		char buf[VALUE_TEXT_LEN], key[160];

		if (v->kind == VALUE_NONE)
			continue;
		snprintf(key, sizeof(key), "proftrace.value.%.*s",
			 (int)value_name__length(a[i].name), a[i].name);
		if (v->kind == VALUE_INT)
			otlp_put_int(&w->span, SPAN_ATTRIBUTE, key, v->i);
		else
			otlp_put_text(&w->span, SPAN_ATTRIBUTE, key,
				      call_value__text(v, argument__is_hex(&a[i]), buf));
	}
}

/* Writes the attributes that the span of any call has. */
static void put_call(struct writer *w, const struct session_call *c)
{
	const struct profile_function *f = function_of(w, c);
	const struct profile_thread *t = &w->s->sessions->threads[c->thread];

	otlp_put_text(&w->span, SPAN_ATTRIBUTE, "code.function.name", function__name(f));
	if (f->file) {
		otlp_put_text(&w->span, SPAN_ATTRIBUTE, "code.file.path", f->file);
		otlp_put_int(&w->span, SPAN_ATTRIBUTE, "code.line.number", f->line);
	}
	otlp_put_int(&w->span, SPAN_ATTRIBUTE, "thread.id", (int64_t)thread__number(t));
	if (*t->comm)
		otlp_put_text(&w->span, SPAN_ATTRIBUTE, "thread.name", t->comm);
	otlp_put_int(&w->span, SPAN_ATTRIBUTE, "proftrace.off_cpu_ns", (int64_t)c->off_ns);
	put_values(w, c);
}

/* Ids, name and times; what is not written here may follow. `c`: NULL for the root. */
static void begin_span(struct writer *w, const struct session *session,
		       const struct session_call *c, const char *name, uint64_t from_ns,
		       uint64_t to_ns)
{
	uint64_t start_ns = otlp_start_ns(w->p);

	proto_bytes(&w->span, SPAN_TRACE_ID, w->trace, sizeof(w->trace));
	put_span_id(w, &w->span, SPAN_ID, session, c);
	proto_text(&w->span, SPAN_NAME, name);
	proto_u64(&w->span, SPAN_KIND, KIND_INTERNAL);
	proto_fixed64(&w->span, SPAN_START, start_ns + from_ns);
	proto_fixed64(&w->span, SPAN_END, start_ns + to_ns);
}

static void end_span(struct writer *w)
{
	proto_message(&w->content, SCOPE_SPANS_SPAN, &w->span);
	w->spans++;
}

/* The trace that the application says it is, or one of its own. */
static void choose_trace(struct writer *w, const struct session *session, struct trace_context *of)
{
	if (session->id && trace_context__parse(of, session->id)) {
		memcpy(w->trace, of->trace, sizeof(w->trace));
		if (session->parent_span)
			memcpy(of->parent, &session->parent_span, sizeof(of->parent));
		return;
	}
	*of = (struct trace_context){0};
	otlp_trace_id(w->trace, w->s->id, session->number);
}

static void write_root(struct writer *w, const struct session_spans *spans,
		       const struct trace_context *of, uint32_t function)
{
	static const uint8_t none[SPAN_ID_SIZE];
	const struct session *session = spans->session;
	const struct profile_thread *t = &w->s->sessions->threads[session->thread];

	begin_span(w, session, NULL, function__name(&w->p->functions[function]), session->start_ns,
		   session->start_ns + session->duration_ns);
	if (memcmp(of->parent, none, sizeof(none))) {
		proto_bytes(&w->span, SPAN_PARENT, of->parent, sizeof(of->parent));
		proto_fixed32(&w->span, SPAN_FLAGS, of->flags | FLAG_KNOWS_REMOTE | FLAG_REMOTE);
	}
	if (spans->own)
		put_call(w, spans->own);
	otlp_put_int(&w->span, SPAN_ATTRIBUTE, "process.pid", t->pid);
	otlp_put_text(&w->span, SPAN_ATTRIBUTE, "proftrace.session", spans->kind);
	if (session->id)
		otlp_put_text(&w->span, SPAN_ATTRIBUTE, "proftrace.session.id", session->id);
	otlp_put_int(&w->span, SPAN_ATTRIBUTE, "proftrace.queue_ns", (int64_t)session->queue_ns);
	otlp_put_int(&w->span, SPAN_ATTRIBUTE, "proftrace.calls",
		     (int64_t)(session->calls_cnt + session->calls_missing));
	otlp_put_int(&w->span, SPAN_ATTRIBUTE, "proftrace.calls_left_out",
		     (int64_t)(spans->left_out + session->calls_missing));
	end_span(w);
}

/* The innermost call of `c` and those around it that is a span; NULL: the root. */
static const struct session_call *nearest_span(const struct session_spans *spans,
					       const struct session_call *c)
{
	const struct session_call *calls = spans->session->calls;

	while (!spans->chosen[c - calls] && c->caller)
		c = &calls[c->caller - 1];
	return spans->chosen[c - calls] ? c : NULL;
}

/* The part's link to what has handed it over, with how long it has waited. */
static void put_link(struct writer *w, const struct session_spans *spans,
		     const struct session_call *part)
{
	const struct session *session = spans->session;
	size_t i = LOWER_BOUND(session->calls_cnt, n, session->calls[n].number < part->submit);
	const struct session_call *submit = NULL;

	if (i < session->calls_cnt && session->calls[i].number == part->submit)
		submit = nearest_span(spans, &session->calls[i]);
	proto_bytes(&w->link, LINK_TRACE_ID, w->trace, sizeof(w->trace));
	put_span_id(w, &w->link, LINK_SPAN_ID, session, submit);
	otlp_put_int(&w->link, LINK_ATTRIBUTE, "proftrace.queue_ns", (int64_t)part->queue_ns);
	proto_message(&w->span, SPAN_LINK, &w->link);
}

static void write_call(struct writer *w, const struct session_spans *spans,
		       const struct session_call *c)
{
	const struct session *session = spans->session;

	begin_span(w, session, c, function__name(function_of(w, c)), c->enter_ns, c->leave_ns);
	put_span_id(w, &w->span, SPAN_PARENT, session,
		    c->caller ? nearest_span(spans, &session->calls[c->caller - 1]) : NULL);
	put_call(w, c);
	if (c->submit)
		put_link(w, spans, c);
	end_span(w);
}

/* The longer first; of equal ones, callers before callees. */
static int compare_calls(const void *a, const void *b, void *session)
{
	const struct session_call *calls = ((const struct session *)session)->calls;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = calls[i].leave_ns - calls[i].enter_ns;
	uint64_t y = calls[k].leave_ns - calls[k].enter_ns;

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* Chooses the calls that become spans, beside the session's own. Returns 0 or -ENOMEM. */
static int choose_spans(struct writer *w, struct session_spans *spans)
{
	const struct session *session = spans->session;
	uint64_t least_ns =
		w->s->span_min_ns ? w->s->span_min_ns : session->duration_ns / LEAST_SHARE;
	uint32_t *order = calloc(session->calls_cnt + 1, sizeof(*order));
	size_t cnt = 0;

	spans->chosen = calloc(session->calls_cnt + 1, sizeof(*spans->chosen));
	if (!order || !spans->chosen) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < session->calls_cnt; i++) {
		const struct session_call *c = &session->calls[i];

		if (c == spans->own)
			continue;
		spans->left_out++;
		/* A part is one however short it is: its link tells how long it has waited. */
		if (c->leave_ns - c->enter_ns >= least_ns || c->submit)
			order[cnt++] = i;
	}
	qsort_r(order, cnt, sizeof(*order), compare_calls, (void *)session);
	for (size_t i = 0; i < cnt && i < SPANS_MAX; i++, spans->left_out--)
		spans->chosen[order[i]] = true;
	free(order);
	return 0;
}

static int write_session(struct writer *w, const struct session *session, uint32_t function,
			 const char *kind)
{
	struct session_spans spans = {
		.session = session,
		.kind = kind,
		.own = session__own_call(session),
	};
	struct trace_context of;
	int err;

	if (w->content.len > OTLP_REQUEST_MAX - (1 << 20)) {
		w->sessions_left_out++;
		return 0;
	}
	err = choose_spans(w, &spans);
	choose_trace(w, session, &of);
	if (!err)
		write_root(w, &spans, &of, function);
	for (size_t i = 0; i < session->calls_cnt && !err; i++) {
		if (spans.chosen[i])
			write_call(w, &spans, &session->calls[i]);
	}
	free(spans.chosen);
	return err;
}

int otlp_traces(const struct shipment *s, struct otlp_request *r)
{
	struct writer w = {.s = s, .p = s->run->profile};
	int err = 0;

	for (size_t i = 0; s->sessions && i < s->sessions->groups_cnt && !err; i++) {
		const struct session_group *g = &s->sessions->groups[i];

		for (size_t n = 0; n < g->slowest_cnt && !err; n++)
			err = write_session(&w, &g->slowest[n], g->function, "slow");
		for (size_t n = 0; n < g->sample_cnt && !err; n++)
			err = write_session(&w, &g->sample[n], g->function, "usual");
	}
	r->cnt = w.spans;
	r->left_out = w.sessions_left_out;
	if (!err)
		otlp_wrap(&r->body, s, &w.content);
	proto_free(&w.content);
	proto_free(&w.span);
	proto_free(&w.link);
	return err ? err : r->body.failed ? -ENOMEM : 0;
}
