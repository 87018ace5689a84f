// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Conditions on values (--if). A function's name may hold nearly any character, so they are read
 * from their end: a number, a relation, a value, and what is before that is the function.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select/arguments.h"
#include "util/log.h"

#define FORM "not of the form 'arg2 > 4096' or 'FUNC: arg2 > 4096'"

/* The parts of a condition, in its text. */
struct parts {
	const char *glob, *value, *number;
	size_t glob_len, value_len; /* glob_len 0: none is named */
	enum argument_relation relation;
};

static int complain(const char *text, const char *why)
{
	log_error("--if '%s': %s", text, why);
	return -EINVAL;
}

/* Moves `end` back over what is, or is not, a space. */
static const char *back(const char *text, const char *end, bool spaces)
{
	while (end > text && !!isspace((unsigned char)end[-1]) == spaces)
		end--;
	return end;
}

/* The relation that ends before `end`; sets *begin. */
static bool take_relation(const char *text, const char *end, const char **begin,
			  enum argument_relation *out)
{
	static const struct {
		const char *sign;
		enum argument_relation relation;
	} rows[] = {
		{"==", ARGUMENT_EQUAL},	   {"!=", ARGUMENT_UNEQUAL}, {"<=", ARGUMENT_AT_MOST},
		{">=", ARGUMENT_AT_LEAST}, {"<", ARGUMENT_BELOW},    {">", ARGUMENT_ABOVE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].sign);

		if ((size_t)(end - text) <= len || strncmp(end - len, rows[i].sign, len))
			continue;
		*begin = end - len;
		*out = rows[i].relation;
		return true;
	}
	return false;
}

/* In "FUNC:VALUE", without a space between them: the colon, which is not that of a format. */
static const char *glued_colon(const char *text, const char *end)
{
	for (const char *at = end; at-- > text;) {
		if (*at != ':')
			continue;
		if (end - at < 2 || !strchr("duxsf", at[1]) ||
		    at + 2 + strspn(at + 2, "0123456789") < end)
			return at;
		end = at;
	}
	return NULL;
}

static bool split(const char *text, struct parts *p)
{
	const char *end = back(text, text + strlen(text), true), *at = end, *colon;

	text += strspn(text, " \t");
	*p = (struct parts){.glob = text};
	while (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '-' || at[-1] == '+'))
		at--;
	p->number = at;
	if (at == end || !take_relation(text, back(text, at, true), &at, &p->relation))
		return false;
	end = back(text, at, true);
	p->value = back(text, end, false);
	p->value_len = end - p->value;
	colon = back(text, p->value, true);
	if (colon == text) {
		colon = glued_colon(text, end);
		if (!colon)
			return true;
		p->value = colon + 1;
		p->value_len = end - p->value;
	} else if (*--colon != ':') {
		return false;
	}
	p->glob_len = back(text, colon, true) - text;
	return p->glob_len;
}

/* The list of the functions that are named, made if there is none. Returns 0 or -errno, logged. */
static int list_for(struct arguments *a, const char *text, const struct parts *p,
		    struct argument_list **out)
{
	struct argument_list *l = a->lists;

	if (!p->glob_len && a->cnt != 1)
		return complain(text, a->cnt ? "of which function? 'FUNC: arg2 > 4096'"
					     : "of which function? there is no -A");
	for (size_t i = 0; p->glob_len && i < a->cnt; i++, l++) {
		if (!strncmp(l->glob, p->glob, p->glob_len) && !l->glob[p->glob_len])
			break;
	}
	*out = l;
	if (l < a->lists + a->cnt)
		return 0;
	if (a->cnt == ARGUMENT_LISTS)
		return complain(text, "too many functions have values");
	l = reallocarray(a->lists, a->cnt + 1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	a->lists = l;
	*out = l += a->cnt++;
	*l = (struct argument_list){.option = "--if", .text = text};
	l->glob = strndup(p->glob, p->glob_len);
	return l->glob ? filter_pattern__parse(&l->pattern, l->glob) : -ENOMEM;
}

/* The place of the value, which the list gets if it does not have it. */
static int item_for(struct argument_list *l, const char *text, const struct parts *p)
{
	const char *option = l->option, *of = l->text;
	int item;

	for (size_t i = 0; i < l->cnt; i++) {
		if (!strncmp(l->items[i].name, p->value, p->value_len) &&
		    !l->items[i].name[p->value_len])
			return i;
	}
	l->option = "--if"; /* is what to complain about */
	l->text = text;
	item = argument_list__add(l, p->value, p->value_len);
	l->option = option;
	l->text = of;
	return item;
}

static bool fits(uint64_t number, bool is_signed, unsigned int bits)
{
	int64_t value = (int64_t)number;

	if (bits >= 64)
		return true;
	return is_signed ? value >> (bits - 1) == 0 || value >> (bits - 1) == -1
			 : number >> bits == 0;
}

static bool parse_number(const char *text, const struct argument *arg, uint64_t *out)
{
	bool is_signed = arg->form == ARGUMENT_SIGNED;
	char *end;

	errno = 0;
	if (is_signed)
		*out = strtoll(text, &end, 0);
	else
		*out = strtoull(text, &end, 0);
	return !errno && end > text && !end[strspn(end, " \t")] && (is_signed || *text != '-') &&
	       fits(*out, is_signed, arg->bytes * 8u);
}

/* Reads the number. Returns NULL, or what is wrong. */
static const char *settle(struct argument_condition *c, const struct argument *arg)
{
	if (arg->form == ARGUMENT_TEXT || arg->form == ARGUMENT_FLOAT)
		return "only integers can be compared";
	return parse_number(c->number, arg, &c->than) ? NULL
						      : "not an integer that the value can be";
}

/* Whether the functions' debug information is to tell its form. */
static bool is_unknown(const struct argument *arg)
{
	return arg->parameter && !arg->has_form;
}

static int add_condition(struct arguments *a, const char *text)
{
	struct argument_condition *c;
	const struct argument *arg;
	struct argument_list *l;
	const char *problem;
	struct parts p;
	int err, item;

	if (!split(text, &p))
		return complain(text, FORM);
	err = list_for(a, text, &p, &l);
	item = err ? err : item_for(l, text, &p);
	if (item < 0)
		return item;
	arg = &l->items[item];
	if (!arg->number && !arg->parameter)
		return complain(text, "the result is not known when a call begins");
	if (l->conditions_cnt == ARGUMENT_CONDITIONS)
		return complain(text, "more than 4 conditions of a function");
	c = &l->conditions[l->conditions_cnt++];
	*c = (struct argument_condition){.item = item, .relation = p.relation, .number = p.number};
	problem = is_unknown(arg) ? NULL : settle(c, arg);
	return problem ? complain(text, problem) : 0;
}

bool argument_list__settle(struct argument_list *l, char *why, size_t size)
{
	for (size_t i = 0; i < l->conditions_cnt; i++) {
		const struct argument *arg = &l->items[l->conditions[i].item];
		const char *problem = settle(&l->conditions[i], arg);

		if (problem) {
			snprintf(why, size, "%s: %s", arg->name, problem);
			return false;
		}
	}
	return true;
}

int arguments__restrict(struct arguments *a, char *const *texts, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = add_condition(a, texts[i]);
	if (err)
		arguments__clear(a);
	return err;
}
