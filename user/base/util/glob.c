// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/glob.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/cxx_name.h"
#include "util/text.h"

const char *glob__object_end(const char *glob)
{
	for (const char *c = glob; *c; c++) {
		if (*c != ':')
			continue;
		if (c[1] != ':')
			return c;
		c++;
	}
	return NULL;
}

bool glob__is_region(const char *glob)
{
	return !strncmp(glob, "region:", strlen("region:"));
}

static bool matches(const char *glob, const char *name)
{
	/* The comparison comes first, as it is cheap, and because of brackets in names. */
	return !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

/* The end of a set as of fnmatch(), "[a-z]", "[!]x]", "[[:digit:]]"; NULL: `open` begins none. */
static const char *set_end(const char *open)
{
	const char *c = open + 1 + (open[1] == '!' || open[1] == '^');

	for (c += *c == ']'; *c && *c != ']'; c++) {
		const char *class_end = strncmp(c, "[:", 2) ? NULL : strstr(c, ":]");

		if (class_end)
			c = class_end + 1;
		else
			c += *c == '\\' && c[1];
	}
	return *c ? c : NULL;
}

bool glob__is_balanced(const char *glob)
{
	int brackets = 0, parentheses = 0;

	for (const char *c = glob; *c && brackets >= 0 && parentheses >= 0; c++) {
		const char *end = *c == '[' ? set_end(c) : NULL;

		if (end)
			c = end;
		else if (*c == '\\' && c[1])
			c++;
		else if (*c == '[' || *c == ']')
			brackets += *c == '[' ? 1 : -1;
		else if (*c == '(' || *c == ')')
			parentheses += *c == '(' ? 1 : -1;
	}
	return !brackets && !parentheses;
}

/* The begin of the suffix of a compiler's clone, or NULL. */
static const char *clone_suffix(const char *name)
{
	static const char *const suffixes[] = {".part.", ".constprop.", ".isra.",   ".lto_priv.",
					       ".llvm.", ".localalias", " [clone ", INLINED_MARK};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at > name && (!first || at < first))
			first = at;
	}
	return first;
}

bool glob__matches_function(const char *func, const char *name)
{
	const char *clone;
	char *copy;
	bool match;

	if (matches(func, name))
		return true;
	clone = clone_suffix(name);
	if (!clone && !strchr(name, '('))
		return false;
	copy = strdup(name);
	if (!copy)
		return false;
	if (clone)
		copy[clone - name] = '\0';
	match = (clone && matches(func, copy)) || matches(func, cxx_name__cut_parameters(copy));
	free(copy);
	return match;
}

bool glob__matches_object(const char *object, const char *path)
{
	return !strcmp(object, path) || !fnmatch(object, path_base(path), 0);
}
