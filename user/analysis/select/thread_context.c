// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/thread_context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "select/arguments.h"
#include "symbol/thread_variable.h"
#include "util/otel_context.h"

/* The fields of a record that are read. */
static const struct field {
	const char *name;
	uint8_t offset, bytes;
} fields[] = {
	{"trace_id", 0, 8},
	{"trace_id_rest", 8, 8},
	{"span_id", 16, 8},
	{"valid", 24, 1},
};

/* The list of that glob, which is made if there is none. */
static int list_of(struct arguments *a, const char *glob, struct argument_list **out)
{
	struct argument_list *grown;

	for (size_t i = 0; i < a->cnt; i++) {
		*out = &a->lists[i];
		if (!strcmp((*out)->glob, glob))
			return 0;
	}
	grown = reallocarray(a->lists, a->cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	a->lists = grown;
	*out = &grown[a->cnt++];
	**out = (struct argument_list){.option = "--session", .text = glob, .glob = strdup(glob)};
	return (*out)->glob ? filter_pattern__parse(&(*out)->pattern, (*out)->glob) : -ENOMEM;
}

static bool has_any(const struct argument_list *l)
{
	for (size_t i = 0; i < l->cnt; i++) {
		if (thread_context__has(&l->items[i]))
			return true;
	}
	return false;
}

int thread_context__want(struct arguments *a, char *const *globs, size_t cnt)
{
	struct argument_list *l;

	for (size_t i = 0; i < cnt; i++) {
		int err = list_of(a, globs[i], &l), first;

		if (err)
			return err;
		if (has_any(l) || l->cnt + OTEL_CONTEXT_VALUES_CNT > ARGUMENTS_MAX)
			continue;
		first = argument_list__add(l, OTEL_CONTEXT, strlen(OTEL_CONTEXT));
		if (first < 0)
			return first;
		for (size_t k = first; k < l->cnt; k++)
			l->items[k].optional = true;
	}
	return 0;
}

void thread_context__forget(struct arguments *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		struct argument_list *l = &a->lists[i];

		l->named = false;
		argument_list__drop_optional(l);
		for (size_t k = 0; k < l->cnt; k++)
			l->named |= l->items[k].parameter != NULL;
	}
	/* Lists of their own are last, as nothing has been found for any yet. */
	while (a->cnt && !a->lists[a->cnt - 1].cnt)
		argument_list__clear(&a->lists[--a->cnt]);
}

bool thread_context__is_wanted(const struct arguments *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		if (a->lists[i].cnt && a->lists[i].items[a->lists[i].cnt - 1].optional)
			return true;
	}
	return false;
}

bool thread_context__has(const struct argument *arg)
{
	return arg->parameter && arg->member && !arg->library &&
	       !strcmp(arg->parameter, OTEL_CONTEXT);
}

/* NULL: the record has no such field, or it is not read. */
static const struct field *find_field(const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	}
	return NULL;
}

const char *thread_context__apply(struct argument *arg, const struct thread_variable *v)
{
	const struct field *f = find_field(arg->member);

	if (!f)
		return "is not read: trace_id, trace_id_rest, span_id and valid are";
	if (v->size != 8)
		return "is not what OpenTelemetry has there: the variable is no pointer";
	if (arg->form == ARGUMENT_TEXT || arg->form == ARGUMENT_FLOAT)
		return "is a number";
	if (!arg->has_form)
		arg->form = ARGUMENT_UNSIGNED;
	arg->bytes = f->bytes;
	arg->number = 1; /* read at the entry */
	arg->place = (struct usdt_argument){
		.place = USDT_MEMORY,
		.bytes = 8,
		.base = USDT_THREAD_POINTER,
		.index = USDT_NO_REGISTER,
		.offset = v->offset,
	};
	arg->behind = true;
	arg->offset = f->offset;
	return NULL;
}
