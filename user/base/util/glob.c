// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/glob.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/cxx_name.h"
#include "util/path.h"

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

/* Where the suffix of a compiler's clone begins, or NULL. */
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
