// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/cxx_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/utf8.h"

/* "R (*f<T>(A))(B)": how often a function may return a pointer to a function. */
#define MAX_FUNCTION_POINTERS 8

static bool is_word_char(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c & 0x80);
}

static bool is_operator(const char *s, const char *at)
{
	static const size_t len = sizeof("operator") - 1;

	return !strncmp(at, "operator", len) && !is_word_char(at[len]) &&
	       (at == s || !is_word_char(at[-1]));
}

/* Behind "operator()", "operator<<", or "operator" of a conversion, new and delete. */
static const char *skip_operator(const char *at)
{
	static const char *const tokens[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "++", "--",
		"+=",  "-=",  "*=",  "/=",  "%=", "^=", "&=", "|=", "==", "!=", "&&", "||", "<",
		">",   "+",   "-",   "*",   "/",  "%",	"^",  "&",  "|",  "~",	"!",  "=",  ",",
	};
	size_t i;

	at += sizeof("operator") - 1;
	for (i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		if (!strncmp(at, tokens[i], strlen(tokens[i])))
			return at + strlen(tokens[i]);
	}
	return at;
}

/* Behind the bracket that closes the one at `at`, or the end. Only brackets of its kind count: the
 * others are balanced within. */
static const char *skip_group(const char *s, const char *at)
{
	char open = *at;
	char close = open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
	size_t depth = 0, parens = 0;

	while (*at) {
		if (open == '<' && is_operator(s, at)) {
			at = skip_operator(at);
			continue;
		}
		if (open == '<' && (*at == '(' || (*at == ')' && parens)))
			parens += *at == '(' ? 1 : -1;
		if (!parens && *at == open)
			depth++;
		/* "->" of a Rust function type closes nothing. */
		else if (!parens && *at == close && !(open == '<' && at[-1] == '-') && !--depth)
			return at + 1;
		at++;
	}
	return at;
}

static const char *skip_qualifiers(const char *at)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", "&&", "&"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if (!strncmp(at, words[i], len) && !is_word_char(at[len])) {
			at += len;
			i = -1;
		}
	}
	return at;
}

static size_t thunk_prefix(const char *s)
{
	static const char *const prefixes[] = {
		"non-virtual thunk to ",      "virtual thunk to ",
		"covariant return thunk to ", "TLS init function for ",
		"TLS wrapper function for ",  "transaction clone for ",
		"non-transaction clone for ",
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(s, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	}
	return 0;
}

enum group {
	GROUP_SCOPE,	  /* "f(int)::", "(anonymous namespace)::" */
	GROUP_PARAMETERS, /* what is to be cut, to the end */
	GROUP_POINTER,	  /* "(*f(int))(char)": the name is inside */
	GROUP_TYPE,	  /* "decltype (a)" */
};

static enum group classify(const char *s, const char *at)
{
	const char *behind = skip_qualifiers(skip_group(s, at));

	if (!strncmp(behind, "::", 2))
		return GROUP_SCOPE;
	if (at[1] == '*' || at[1] == '&')
		return *behind == '(' || *behind == '[' ? GROUP_POINTER : GROUP_TYPE;
	if (!*behind || !strncmp(behind, " [", 2) || !strncmp(behind, " requires ", 10))
		return GROUP_PARAMETERS;
	return GROUP_TYPE;
}

/* The end of `*name`, which is moved behind the return type. *pointer is set if the name is inside
 * the group that begins at the end. */
static char *find_end(char *s, char **name, bool *pointer)
{
	bool in_operator = false; /* a conversion's type may have spaces */
	char *at = s;

	*pointer = false;
	while (*at) {
		enum group group = *at == '(' ? classify(s, at) : GROUP_SCOPE;

		if (is_operator(s, at)) {
			in_operator = true;
			at = (char *)skip_operator(at);
		} else if (group == GROUP_PARAMETERS || group == GROUP_POINTER) {
			*pointer = group == GROUP_POINTER;
			return at;
		} else if (strchr("(<[{", *at)) {
			at = (char *)skip_group(s, at);
			if (group == GROUP_SCOPE && at[-1] == ')')
				at = (char *)skip_qualifiers(at);
		} else if (*at == ' ' && at[1] == '[') {
			return at; /* " [clone .cold]" of a name without parameters */
		} else if (*at++ == ' ' && !in_operator) {
			*name = at;
		}
	}
	return at;
}

char *cxx_name__cut_parameters(char *demangled)
{
	size_t prefix = thunk_prefix(demangled);
	char *name = demangled + prefix;
	bool pointer;
	int i;

	for (i = 0; i < MAX_FUNCTION_POINTERS; i++) {
		char *end = find_end(name, &name, &pointer);

		if (!pointer) {
			*end = '\0';
			break;
		}
		/* "R (*f<T>(A))(B)" */
		*(char *)(skip_group(end, end) - 1) = '\0';
		name = end + 2;
	}
	return prefix ? demangled : name;
}

#define ELLIPSIS "…"

/* Puts "…" in place of what the group at `at` contains. Returns where it ends then. */
static char *empty_group(const char *s, char *at)
{
	char *end = (char *)skip_group(s, at);
	size_t len = end - at;

	if (len <= sizeof("()" ELLIPSIS) - 1 || !strchr(")>", end[-1]))
		return end;
	memcpy(at + 1, ELLIPSIS, sizeof(ELLIPSIS) - 1);
	at += sizeof(ELLIPSIS);
	memmove(at, end - 1, strlen(end - 1) + 1);
	return at + 1;
}

/* Whether a '<' begins arguments of a template: "f<int>", "f::<i32>". In Rust's "<T as Trait>::f"
 * it does not. */
static bool begins_arguments(const char *s, const char *at)
{
	return at != s && (is_word_char(at[-1]) || at[-1] == ':');
}

static void empty_templates(char *s)
{
	for (char *at = s; *at;) {
		if (is_operator(s, at))
			at = (char *)skip_operator(at);
		else if (*at == '<' && begins_arguments(s, at))
			at = empty_group(s, at);
		else
			at++;
	}
}

/* Puts "…" in place of the outermost scopes, as few as must go. `end`: of the qualified name. */
static void leave_scopes_out(char *s, const char *end, size_t columns)
{
	char *rest = NULL, *at = s;

	while (at < end && (!rest || utf8_count(rest) >= columns)) {
		if (is_operator(s, at))
			break;
		if (strchr("(<[{", *at)) {
			at = (char *)skip_group(s, at);
		} else if (!strncmp(at, "::", 2)) {
			at += 2;
			rest = at;
		} else {
			at++;
		}
	}
	if (!rest || rest - s < (ptrdiff_t)sizeof(ELLIPSIS))
		return;
	memcpy(s, ELLIPSIS, sizeof(ELLIPSIS) - 1);
	memmove(s + sizeof(ELLIPSIS) - 1, rest, strlen(rest) + 1);
}

/* Parts of a name in the order in which they are left out: the first tell least of which function
 * it is. */
enum part {
	PART_PARAMETERS,
	PART_TEMPLATES,
	PART_RETURN_TYPE,
	PART_CLONE, /* " [clone .isra.0]" */
	PART_SCOPES,
	PARTS
};

static void leave_out(char *s, enum part part, size_t columns)
{
	size_t prefix = thunk_prefix(s);
	char *name = s + prefix, *end, *clone = strstr(name, " [clone ");
	bool pointer;

	if (part == PART_TEMPLATES)
		empty_templates(s);
	if (part == PART_CLONE && clone)
		*clone = '\0';
	end = find_end(name, &name, &pointer);
	if (pointer)
		return;
	if (part == PART_PARAMETERS && *end == '(')
		empty_group(name, end);
	else if (part == PART_RETURN_TYPE && *end == '(' && !prefix)
		memmove(s, name, strlen(name) + 1);
	else if (part == PART_SCOPES && !prefix)
		leave_scopes_out(name, end, columns);
}

void cxx_name__fit(char *demangled, size_t columns)
{
	size_t len = strlen(demangled), mark = sizeof(INLINED_MARK) - 1;
	const bool inlined = len > mark && !strcmp(demangled + len - mark, INLINED_MARK);

	if (inlined) {
		demangled[len - mark] = '\0';
		columns -= columns < mark ? columns : mark;
	}
	for (int part = 0; part < PARTS && utf8_count(demangled) > columns; part++)
		leave_out(demangled, part, columns);
	if (inlined)
		memcpy(demangled + strlen(demangled), INLINED_MARK, mark + 1);
}
