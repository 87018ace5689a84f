// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/cxx_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* Where `*name` ends; moves it behind the return type. *pointer is set if the name is inside the
 * group that begins at the end. */
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
