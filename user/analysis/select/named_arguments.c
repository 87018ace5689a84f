// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/named_arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/parameters.h"
#include "select/arguments.h"
#include "select/thread_context.h"
#include "select/thread_values.h"
#include "symbol/demangle.h"
#include "symbol/symtab.h"
#include "util/log.h"

#define NAME_SHOWN 60 /* bytes of a function's name */

void named_arguments__clear(struct named_arguments *n)
{
	parameters__free(n->parameters);
}

/* A copy of a function for some of its callers, which may take less than is written. */
static bool is_clone(const char *symbol)
{
	return strstr(symbol, ".constprop.") || strstr(symbol, ".isra.") ||
	       strstr(symbol, ".part.");
}

static bool find(struct named_arguments *n, const struct symbol *sym, const struct argument *arg,
		 struct parameter *out, char *why, size_t size)
{
	const struct parameter_path path = {arg->parameter, arg->member};

	if (is_clone(sym->name)) {
		snprintf(why, size, "the compiler has changed its parameters");
		return false;
	}
	if (!n->parameters && !n->err)
		n->err = parameters__open(n->img, n->root, &n->parameters);
	if (!n->err)
		return parameters__find(n->parameters, sym->vaddr, &path, out, why, size);
	snprintf(why, size, "%s; use arg1, arg2",
		 n->err == -ENOTSUP ? "its debug information is kept in a way that is not read"
				    : "its parameters have no names without debug information");
	return false;
}

/* Gives the value place and format; what was asked for of the format stays. Returns NULL, or why
 * it cannot be read so. */
static const char *apply(struct argument *arg, const struct parameter *at)
{
	static const uint8_t forms[] = {
		[PARAMETER_SIGNED] = ARGUMENT_SIGNED,	 [PARAMETER_UNSIGNED] = ARGUMENT_UNSIGNED,
		[PARAMETER_POINTER] = ARGUMENT_UNSIGNED, [PARAMETER_TEXT] = ARGUMENT_TEXT,
		[PARAMETER_FLOAT] = ARGUMENT_FLOAT,	 [PARAMETER_CHARACTERS] = ARGUMENT_TEXT,
	};

	arg->number = at->number;
	arg->behind = at->behind;
	arg->inside = at->class == PARAMETER_CHARACTERS;
	arg->offset = at->offset;
	if (!arg->has_form)
		arg->form = forms[at->class];
	if (!arg->has_bits)
		arg->bytes = at->bytes;
	if (arg->inside && arg->form != ARGUMENT_TEXT)
		return "is an array of characters: :s";
	if (arg->form == ARGUMENT_TEXT && at->bytes != 8)
		return "is no pointer to a string";
	if ((arg->form == ARGUMENT_FLOAT) != (at->class == PARAMETER_FLOAT))
		return arg->form == ARGUMENT_FLOAT ? "is no floating-point number"
						   : "is a floating-point number: :f";
	if (arg->form == ARGUMENT_FLOAT && arg->bytes != at->bytes)
		return "has another number of bits";
	return arg->bytes <= at->bytes ? NULL : "has fewer bits";
}

/* Gives a value of a name its place. Returns whether it has one; else `why` tells why not. */
static bool place(struct named_arguments *n, const struct symbol *sym, struct argument *arg,
		  char *why, size_t size)
{
	const char *problem = NULL;
	struct parameter at;

	if (thread_context__has(arg) || arg->library) {
		problem = thread_values__place(n->locals, arg);
	} else if (find(n, sym, arg, &at, why, size)) {
		problem = apply(arg, &at);
	} else {
		problem = thread_values__place(n->locals, arg);
		if (problem && !*problem) /* what is wrong with parameters has been said */
			return false;
	}
	if (problem)
		snprintf(why, size, "%s %s", arg->name, problem);
	return !problem;
}

static bool resolve(struct named_arguments *n, const struct symbol *sym, struct argument_list *l,
		    char *why, size_t size)
{
	size_t texts = 0;

	for (size_t i = 0; i < l->cnt; i++) {
		struct argument *arg = &l->items[i];

		if (arg->parameter && !place(n, sym, arg, why, size)) {
			if (!arg->optional)
				return false;
			l->cnt = i; /* the last ones; their names are the given list's */
			break;
		}
		texts += arg->form == ARGUMENT_TEXT;
		if (texts > ARGUMENT_TEXTS) {
			snprintf(why, size,
				 "%s is the fourth string; 3 are read, show others as :x",
				 arg->name);
			return false;
		}
	}
	return argument_list__settle(l, why, size);
}

static bool is_same_place(const struct usdt_argument *a, const struct usdt_argument *b)
{
	return a->place == b->place && a->offset == b->offset && a->bytes == b->bytes &&
	       a->base == b->base && a->index == b->index && a->shift == b->shift &&
	       a->is_signed == b->is_signed;
}

/* Whether two lists read the same; both are of one that was given. */
static bool is_same(const struct argument_list *a, const struct argument_list *b)
{
	if (a->given != b->given)
		return false;
	for (size_t i = 0; i < a->cnt; i++) {
		const struct argument *x = &a->items[i], *y = &b->items[i];

		if (x->number != y->number || x->form != y->form || x->bytes != y->bytes ||
		    x->behind != y->behind || x->inside != y->inside || x->offset != y->offset ||
		    !is_same_place(&x->place, &y->place))
			return false;
	}
	return true;
}

int named_arguments__keep(struct arguments *a, const struct argument_list *l, uint32_t *number)
{
	struct argument_list *grown;

	for (size_t i = 0; i < a->cnt; i++) {
		if (is_same(&a->lists[i], l)) {
			*number = i + 1;
			return 0;
		}
	}
	*number = 0;
	if (a->cnt == ARGUMENT_LISTS)
		return 0;
	grown = reallocarray(a->lists, a->cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	a->lists = grown;
	a->lists[a->cnt++] = *l;
	*number = a->cnt;
	return 0;
}

void named_arguments__note_failure(struct argument_list *given, const char *name, const char *why)
{
	if (!given->failures++)
		snprintf(given->why, sizeof(given->why), "%.*s: %s", NAME_SHOWN, name, why);
}

static void note_failure(struct argument_list *given, const struct symbol *sym, const char *why)
{
	char *name = given->failures ? NULL : demangle(sym->name);

	named_arguments__note_failure(given, name ? name : sym->name, why);
	free(name);
}

int named_arguments__resolve(struct named_arguments *n, const struct symbol *sym, uint32_t *list,
			     bool *refused)
{
	struct argument_list l, *given;
	char why[ARGUMENT_WHY - 64];
	int err = 0;
	bool found;

	*refused = false;
	if (!*list || !n->arguments->lists[*list - 1].named)
		return 0;
	l = n->arguments->lists[*list - 1];
	l.given = *list;
	found = resolve(n, sym, &l, why, sizeof(why));
	*list = 0;
	if (found && !l.cnt)
		return 0;
	if (found) {
		err = named_arguments__keep(n->arguments, &l, list);
		snprintf(why, sizeof(why), "too many functions have values of their own");
	}
	given = &n->arguments->lists[l.given - 1]; /* the lists may have moved */
	if (*list)
		given->pattern.matched = true;
	else if (!err)
		note_failure(given, sym, why);
	*refused = !*list && l.conditions_cnt;
	return err;
}

void named_arguments__report(struct arguments *a)
{
	for (size_t i = 0; a && i < a->cnt; i++) {
		struct argument_list *l = &a->lists[i];

		if (!l->failures || !l->pattern.matched)
			continue;
		log_warn("%s '%s': %s of %zu function%s (%s)", l->option, l->text,
			 l->conditions_cnt ? "no calls" : "no values", l->failures,
			 l->failures == 1 ? "" : "s", l->why);
		l->failures = 0;
	}
}
