// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *skip_space(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Ends the text behind its last character that is no space. */
static void cut_space(char *text)
{
	size_t len = strlen(text);

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
}

/* "GLOB(VALUE)": names of functions may have brackets, too, so the last pair counts. */
static bool parse_side(char *text, char **glob, char **value)
{
	char *open;

	text = skip_space(text);
	cut_space(text);
	open = strrchr(text, '(');
	if (!open || open == text || text[strlen(text) - 1] != ')')
		return false;
	text[strlen(text) - 1] = '\0';
	*open = '\0';
	*glob = text;
	*value = skip_space(open + 1);
	cut_space(text);
	cut_space(*value);
	return **glob && **value && !strchr(*value, ',');
}

/* The arrow between both sides: there may be others in values, as in req->id. */
static char *find_arrow(char *text)
{
	for (char *arrow = strstr(text, "->"); arrow; arrow = strstr(arrow + 2, "->")) {
		char *end = arrow;

		while (end > text && isspace((unsigned char)end[-1]))
			end--;
		if (end > text && end[-1] == ')')
			return arrow;
	}
	return NULL;
}

bool link_option__parse(struct link_option *link, const char *text)
{
	char *copy = strdup(text), *arrow = copy ? find_arrow(copy) : NULL;
	char *words = copy;

	*link = (struct link_option){.text = text};
	if (!arrow)
		goto fail;
	*arrow = '\0';
	/* Spaces are cut by moving the text: free() needs the copy's begin. */
	words = skip_space(copy);
	memmove(copy, words, strlen(words) + 1);
	if (!parse_side(copy, &link->submit, &link->submit_value) ||
	    !parse_side(arrow + 2, &link->run, &link->run_value))
		goto fail;
	return true;
fail:
	free(copy);
	link->submit = NULL;
	return false;
}

/* Whether "GLOB(VALUE, ...)" has this glob. */
static bool has_glob(const char *argument, const char *glob)
{
	const char *open = strrchr(argument, '(');
	size_t len = strlen(glob);

	return open && argument[strlen(argument) - 1] == ')' && (size_t)(open - argument) == len &&
	       !memcmp(argument, glob, len);
}

static bool has_value(const char *argument, const char *value)
{
	const char *at = strrchr(argument, '(') + 1;
	size_t len = strlen(value);

	for (;; at++) {
		at += strspn(at, " \t");
		if (!strncmp(at, value, len) && strchr(":,) \t", at[len]))
			return true;
		at = strpbrk(at, ",");
		if (!at)
			return false;
	}
}

bool link__want_value(const char *glob, const char *value, char ***arguments, size_t *cnt)
{
	char **grown, *text;

	for (size_t i = 0; i < *cnt; i++) {
		char *old = (*arguments)[i];

		if (!has_glob(old, glob))
			continue;
		if (has_value(old, value))
			return true;
		if (asprintf(&text, "%.*s, %s)", (int)(strlen(old) - 1), old, value) < 0)
			return false;
		free(old);
		(*arguments)[i] = text;
		return true;
	}
	grown = reallocarray(*arguments, *cnt + 1, sizeof(*grown));
	if (!grown)
		return false;
	*arguments = grown;
	if (asprintf(&text, "%s(%s)", glob, value) < 0)
		return false;
	grown[(*cnt)++] = text;
	return true;
}

bool link_option__want(const struct link_option *link, char ***arguments, size_t *cnt)
{
	return link__want_value(link->submit, link->submit_value, arguments, cnt) &&
	       link__want_value(link->run, link->run_value, arguments, cnt);
}
