// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/session_ids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sessions/trace_context.h"
#include "calls/values.h"
#include "sessions/session_spec.h"
#include "util/otel_context.h"

/* The value of that name; NULL: the call has none, or it could not be read. */
static const struct call_value *value_of(const struct profile *p, uint32_t function,
					 const struct session_call *c, const char *name,
					 const struct profile_argument **argument)
{
	uint32_t number = name ? profile__argument_number(p, function, name) : 0, cnt;

	if (!number || number > c->values_cnt || c->values[number - 1].kind == VALUE_NONE)
		return NULL;
	*argument = &profile__arguments(p, function, &cnt)[number - 1];
	return &c->values[number - 1];
}

/* The value as text, which the caller frees. NULL: no memory. */
static char *value_text(const struct call_value *v, const struct profile_argument *a)
{
	char buf[VALUE_TEXT_LEN];

	return strdup(call_value__text(v, argument__is_hex(a), buf));
}

/* Two numbers are the 16 bytes of a trace id, as they lie in memory. */
static char *bytes_text(const struct call_value *v, const struct call_value *rest)
{
	char text[2 * TRACE_ID_SIZE + 1];
	uint64_t halves[] = {v->u, rest->u};
	uint8_t bytes[TRACE_ID_SIZE];

	memcpy(bytes, halves, sizeof(bytes));
	for (size_t i = 0; i < TRACE_ID_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return strdup(text);
}

static bool is_number(const struct call_value *v)
{
	return v && (v->kind == VALUE_UINT || v->kind == VALUE_INT);
}

/* Gives the session the ids of a thread context, if a valid record has been read, with a trace. */
static int set_context(const struct profile *p, uint32_t function, const struct session_call *own,
		       struct sessions *s, struct session *session)
{
	const struct profile_argument *a;
	const struct call_value *trace = value_of(p, function, own, OTEL_CONTEXT_TRACE, &a);
	const struct call_value *rest = value_of(p, function, own, OTEL_CONTEXT_TRACE_REST, &a);
	const struct call_value *span = value_of(p, function, own, OTEL_CONTEXT_SPAN, &a);
	const struct call_value *valid = value_of(p, function, own, OTEL_CONTEXT_VALID, &a);

	if (!is_number(trace) || !is_number(rest) || !is_number(valid) || valid->u != 1 ||
	    !(trace->u | rest->u))
		return 0;
	session->id = bytes_text(trace, rest);
	session->parent_span = is_number(span) ? span->u : 0;
	s->ids_known++;
	return session->id ? 0 : -ENOMEM;
}

static int set_id(const struct profile *p, const struct session_id_spec *spec, struct sessions *s,
		  struct session *session)
{
	const struct session_call *own = session__own_call(session);
	const struct profile_argument *a = NULL;
	const struct call_value *v, *rest;
	uint32_t function;

	s->ids_asked++;
	if (!own)
		return 0;
	function = s->paths[own->path].function;
	if (spec->is_context)
		return set_context(p, function, own, s, session);
	v = value_of(p, function, own, spec->value, &a);
	rest = value_of(p, function, own, spec->rest, &a);
	if (!v || (spec->rest && (!is_number(v) || !is_number(rest))))
		return 0;
	session->id = spec->rest ? bytes_text(v, rest) : value_text(v, a);
	s->ids_known++;
	return session->id ? 0 : -ENOMEM;
}

int sessions__set_ids(const struct profile *p, const struct session_id_spec *spec,
		      struct sessions *s)
{
	int err = 0;

	for (size_t i = 0; i < s->groups_cnt && !err; i++) {
		struct session_group *g = &s->groups[i];

		for (size_t n = 0; n < g->slowest_cnt && !err; n++)
			err = set_id(p, spec, s, &g->slowest[n]);
		for (size_t n = 0; n < g->sample_cnt && !err; n++)
			err = set_id(p, spec, s, &g->sample[n]);
	}
	return err;
}
