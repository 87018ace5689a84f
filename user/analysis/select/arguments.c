// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "symbol/symtab.h"
#include "util/log.h"
#include "util/otel_context.h"
#include "util/text.h"

#define NUMBER_MAX 64 /* argN */
#define NO_MEMORY  "out of memory"
#define BAD_FORM   "the format is none of :d :u :x (with 8, 16, 32 or 64 bits), :s, :f, :f32"

/* "+16", "-0x8"; the text may go on with a format. */
static bool parse_offset(const char **at, struct argument *arg)
{
	char *end;
	long offset;

	if (**at != '+' && **at != '-')
		return true;
	errno = 0;
	offset = strtol(*at, &end, 0);
	if (errno || !isdigit((unsigned char)(*at)[1]) || offset < INT_MIN || offset > INT_MAX ||
	    (*end && *end != ':'))
		return false;
	arg->behind = true;
	arg->offset = offset;
	*at = end;
	return true;
}

/* The number of bits behind a format's letter. */
static bool parse_bits(const char *text, struct argument *arg)
{
	static const char *const bits[] = {"8", "16", "32", "64"};

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		if (!strcmp(text, bits[i])) {
			arg->bytes = 1 << i;
			return true;
		}
	}
	return !*text;
}

/* ":d", ":x32", ":s", ... */
static bool parse_form(const char *at, struct argument *arg)
{
	static const char letters[] = {
		[ARGUMENT_SIGNED] = 'd', [ARGUMENT_UNSIGNED] = 'u', [ARGUMENT_HEX] = 'x',
		[ARGUMENT_FLOAT] = 'f',	 [ARGUMENT_TEXT] = 's',
	};
	const char *letter;

	arg->bytes = 8;
	if (!*at)
		return true;
	if (at[0] != ':' || !at[1])
		return false;
	letter = memchr(letters, at[1], sizeof(letters));
	arg->has_form = true;
	arg->has_bits = at[2];
	if (!letter || !parse_bits(at + 2, arg))
		return false;
	arg->form = letter - letters;
	return arg->form == ARGUMENT_TEXT    ? !at[2]
	       : arg->form == ARGUMENT_FLOAT ? arg->bytes >= 4
					     : true;
}

/* The length of the identifier there; 0: there is none. */
static size_t word_length(const char *at)
{
	size_t len = 0;

	if (isdigit((unsigned char)*at))
		return 0;
	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	return len;
}

/* "id", "head.id": members of members. */
static size_t members_length(const char *at)
{
	size_t len = word_length(at), more;

	while (len && at[len] == '.') {
		more = word_length(at + len + 1);
		if (!more)
			return 0;
		len += 1 + more;
	}
	return len;
}

/* "req", "req->id:x". Returns NULL, or what is wrong with it. */
static const char *parse_named(const char *at, struct argument *arg)
{
	size_t len = word_length(at);

	if (!len)
		return "neither argN, nor ret, nor a parameter's name";
	arg->parameter = strndup(at, len);
	if (!arg->parameter)
		return NO_MEMORY;
	at += len;
	if (!strncmp(at, "->", 2)) {
		at += 2;
		len = members_length(at);
		if (!len)
			return "not the name of a member behind ->";
		arg->member = strndup(at, len);
		if (!arg->member)
			return NO_MEMORY;
		at += len;
	}
	if (!strncmp(at, "->", 2))
		return "one pointer is followed, not two";
	if (*at && *at != ':')
		return "not of the form NAME or NAME->MEMBER, and a format";
	return parse_form(at, arg) ? NULL : BAD_FORM;
}

/* The characters of libraries' names that recordings may have in names of values. */
static const char library_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.";

/* "libapp.so:request_id:s". Returns NULL, or what is wrong with it. */
static const char *parse_library(const char *name, size_t len, struct argument *arg)
{
	if (strspn(name, library_characters) < len)
		return "a library is named as it is, without wildcards";
	arg->library = strndup(name, len);
	return arg->library ? parse_named(name + len + 1, arg) : NO_MEMORY;
}

static bool is_number(const char *at, size_t len, const char *before)
{
	size_t prefix = strlen(before);

	return len > prefix && !strncmp(at, before, prefix) &&
	       strspn(at + prefix, "0123456789") == len - prefix;
}

/* Returns NULL, or what is wrong with it. */
static const char *parse_argument(const char *name, struct argument *arg)
{
	size_t len = word_length(name), library = text_library_length(name);
	const char *at = name + len;

	if (library)
		return parse_library(name, library, arg);
	if (is_number(name, len, "arg")) {
		unsigned long number = strtoul(name + 3, NULL, 10);

		if (!number || number > NUMBER_MAX)
			return "arguments are numbered from 1 to 64";
		arg->number = number;
	} else if (is_number(name, len, "f")) {
		return "the kernel shows no floating-point registers to probes; of floats only "
		       "what lies behind a pointer can be read, as arg1+8:f";
	} else if (len != 3 || strncmp(name, "ret", 3)) {
		return parse_named(name, arg);
	}
	if (!parse_offset(&at, arg))
		return "not a number of bytes behind the pointer";
	if (*at && *at != ':')
		return "values are parted by commas";
	if (!parse_form(at, arg))
		return BAD_FORM;
	if (arg->form == ARGUMENT_FLOAT && !arg->behind)
		return "floats are passed in registers that the kernel does not show to probes; "
		       "behind a pointer (arg1+8:f) they can be read";
	return NULL;
}

static int complain(const struct argument_list *l, const char *word, const char *why)
{
	if (word)
		log_error("%s '%s': %s: %s", l->option, l->text, word, why);
	else
		log_error("%s '%s': %s", l->option, l->text, why);
	return -EINVAL;
}

/* Adds what is read of a thread context. Returns the place of the first value, or -errno. */
static int add_context(struct argument_list *l)
{
	static const char *const names[OTEL_CONTEXT_VALUES_CNT] = OTEL_CONTEXT_VALUES;
	const int first = l->cnt;

	for (size_t i = 0; i < OTEL_CONTEXT_VALUES_CNT; i++) {
		int place = argument_list__add(l, names[i], strlen(names[i]));

		if (place < 0)
			return place;
	}
	return first;
}

int argument_list__add(struct argument_list *l, const char *text, size_t len)
{
	struct argument *arg = &l->items[l->cnt];
	size_t texts = 0;
	const char *why;

	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len)
		return complain(l, NULL, "a value is missing between ( , and )");
	if (len == strlen(OTEL_CONTEXT) && !memcmp(text, OTEL_CONTEXT, len))
		return add_context(l);
	if (l->cnt == ARGUMENTS_MAX)
		return complain(l, NULL, "more than 8 values of a function");
	*arg = (struct argument){.name = strndup(text, len)};
	if (!arg->name)
		return -ENOMEM;
	l->cnt++;
	why = parse_argument(arg->name, arg);
	if (why)
		return complain(l, arg->name, why);
	l->named |= arg->parameter != NULL;
	for (size_t i = 0; i < l->cnt; i++) {
		texts += l->items[i].form == ARGUMENT_TEXT;
		if (&l->items[i] != arg && !strcmp(l->items[i].name, arg->name))
			return complain(l, arg->name, "is there twice");
	}
	if (texts > ARGUMENT_TEXTS)
		return complain(l, arg->name, "more than 3 strings of a function");
	return l->cnt - 1;
}

/* A C++ name may have brackets of its own: the last ones count. */
static int parse_list(struct argument_list *l, const char *text)
{
	const char *open = strrchr(text, '('), *at = open;
	size_t len = strlen(text);
	int err;

	l->text = text;
	while (at && at > text && isspace((unsigned char)at[-1]))
		at--;
	if (!open || at == text || text[len - 1] != ')')
		return complain(l, NULL, "not of the form 'FUNC(arg1, arg2:s, ret)'");
	l->glob = strndup(text, at - text);
	err = l->glob ? filter_pattern__parse(&l->pattern, l->glob) : -ENOMEM;
	for (at = open + 1; !err; at++) {
		size_t word = strcspn(at, ",)");

		err = argument_list__add(l, at, word);
		err = err < 0 ? err : 0;
		at += word;
		if (*at == ')')
			break;
	}
	return err;
}

int arguments__parse(struct arguments *a, char *const *texts, size_t cnt, size_t given,
		     size_t linked)
{
	int err = 0;

	*a = (struct arguments){0};
	if (cnt > ARGUMENT_LISTS) {
		log_error("more than %d times -A", ARGUMENT_LISTS);
		return -EINVAL;
	}
	a->lists = calloc(cnt + 1, sizeof(*a->lists));
	if (!a->lists)
		return -ENOMEM;
	while (!err && a->cnt < cnt) {
		struct argument_list *l = &a->lists[a->cnt];

		l->option = a->cnt < given ? "-A" : a->cnt < linked ? "--link" : "--session-id";
		err = parse_list(l, texts[a->cnt++]);
	}
	if (err)
		arguments__clear(a);
	return err;
}

static void clear_argument(struct argument *arg)
{
	free(arg->name);
	free(arg->parameter);
	free(arg->member);
	free(arg->library);
}

void argument_list__drop_optional(struct argument_list *l)
{
	while (l->cnt && l->items[l->cnt - 1].optional)
		clear_argument(&l->items[--l->cnt]);
}

void argument_list__clear(struct argument_list *l)
{
	free(l->glob);
	filter_pattern__clear(&l->pattern);
	for (size_t i = 0; i < l->cnt; i++)
		clear_argument(&l->items[i]);
}

void arguments__clear(struct arguments *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		if (!a->lists[i].given)
			argument_list__clear(&a->lists[i]);
	}
	free(a->lists);
	*a = (struct arguments){0};
}

uint32_t arguments__of(struct arguments *a, const struct filter_object *obj,
		       const struct symbol *sym)
{
	uint32_t found = 0;

	/* All are tried: each shall know whether it matches anything. */
	for (size_t i = 0; i < a->cnt; i++) {
		struct argument_list *l = &a->lists[i];

		if (l->given || !filter_pattern__matches(&l->pattern, obj, sym))
			continue;
		if (sym->is_go) {
			l->refused = true;
			continue;
		}
		/* For names it must be looked up whether the function has such parameters. */
		if (!l->named || found)
			l->pattern.matched = true;
		if (!found)
			found = i + 1;
	}
	return found;
}

const struct argument_list *arguments__unmatched(const struct arguments *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		const struct argument_list *l = &a->lists[i];

		if (!l->given && !l->pattern.matched && !l->items[0].optional)
			return &a->lists[i];
	}
	return NULL;
}

bool arguments__named(const struct arguments *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		if (a->lists[i].named)
			return true;
	}
	return false;
}

bool arguments__have(const struct arguments *a, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < a->cnt; i++) {
		for (size_t k = 0; k < a->lists[i].cnt; k++) {
			const char *known = a->lists[i].items[k].name;

			if (!strncmp(known, name, len) && (!known[len] || known[len] == ':'))
				return true;
		}
	}
	return false;
}

uint32_t argument_list__needs(const struct argument_list *l)
{
	const unsigned int registers = arch__host()->arguments_cnt;
	uint32_t needs = 0;

	for (size_t i = 0; i < l->cnt; i++) {
		const struct argument *arg = &l->items[i];

		/* Optional ones are read where the others are, or somewhat later. */
		if (!arg->number || arg->optional)
			continue;
		if (arg->place.base == USDT_THREAD_POINTER) {
			needs |= ARGUMENTS_NEED_MEMORY;
			continue;
		}
		if (arg->number <= registers)
			needs |= 1u << (arg->number - 1);
		if (arg->number > registers || arg->behind || arg->form == ARGUMENT_TEXT)
			needs |= ARGUMENTS_NEED_MEMORY;
	}
	return needs;
}
