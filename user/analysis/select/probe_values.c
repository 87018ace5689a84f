// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/probe_values.h"

#include <stdio.h>

#include "arch/arch.h"
#include "select/arguments.h"
#include "select/named_arguments.h"
#include "select/thread_values.h"
#include "symbol/usdt_argument.h"

/* Gives one value its place. Returns NULL, or why it cannot be read. */
static const char *place(struct thread_values *locals, struct argument *arg, const char *texts)
{
	const char *why;

	if (arg->parameter) {
		why = thread_values__place(locals, arg);
		return why && !*why ? "a probe's values have no names; use arg1, arg2" : why;
	}
	if (!arg->number)
		return "a region returns nothing";
	if (!texts)
		return arg->number <= arch__host()->arguments_cnt
			       ? NULL
			       : "only arguments in registers are there";
	why = usdt_argument__parse(texts, arg->number, &arg->place);
	if (why)
		return why;
	if (!arg->has_form && !arg->place.is_signed && arg->form == ARGUMENT_SIGNED)
		arg->form = ARGUMENT_UNSIGNED;
	if (arg->place.bytes != 8 && (arg->behind || arg->form == ARGUMENT_TEXT))
		return "it is no pointer";
	return NULL;
}

static bool resolve(struct thread_values *locals, struct argument_list *l, const char *texts,
		    char *why, size_t size)
{
	for (size_t i = 0; i < l->cnt; i++) {
		const char *problem = place(locals, &l->items[i], texts);

		if (problem && l->items[i].optional) {
			l->cnt = i; /* the last ones; their names are the given list's */
			break;
		}
		if (problem) {
			snprintf(why, size, "%s: %s", l->items[i].name, problem);
			return false;
		}
	}
	return argument_list__settle(l, why, size);
}

static uint32_t first_match(const struct arguments *a, const char *name)
{
	for (size_t i = 0; i < a->cnt; i++) {
		const struct argument_list *l = &a->lists[i];

		if (!l->given && filter_pattern__matches_region(&l->pattern, name))
			return i + 1;
	}
	return 0;
}

int probe_values__find(struct arguments *a, struct thread_values *locals, const char *name,
		       const char *texts, uint32_t *list, bool *refused)
{
	uint32_t number = first_match(a, name);
	struct argument_list l, *given;
	char why[ARGUMENT_WHY - 64];
	int err = 0;

	*list = 0;
	*refused = false;
	if (!number)
		return 0;
	l = a->lists[number - 1];
	l.given = number;
	if (resolve(locals, &l, texts, why, sizeof(why))) {
		if (!l.cnt)
			return 0;
		err = named_arguments__keep(a, &l, list);
		snprintf(why, sizeof(why), "too many functions have values of their own");
	}
	given = &a->lists[number - 1]; /* the lists may have moved */
	if (*list)
		given->pattern.matched = true;
	else if (!err)
		named_arguments__note_failure(given, name, why);
	*refused = !*list && l.conditions_cnt;
	return err;
}
