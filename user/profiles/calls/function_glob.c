// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/function_glob.h"

#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "util/glob.h"

/* The FUNC part of "FUNC" or "OBJECT:FUNC": an empty one stands for all functions. */
static const char *function_part(const char *glob, const char *colon)
{
	if (!colon)
		return glob;
	return colon[1] ? colon + 1 : "*";
}

static bool object_matches(const char *glob, size_t len, const char *path)
{
	char *object = path ? strndup(glob, len) : NULL;
	bool match = object && glob__matches_object(object, path);

	free(object);
	return match;
}

bool function_glob__matches(const char *glob, const struct profile_function *f)
{
	const char *colon = glob__object_end(glob), *func = function_part(glob, colon);
	bool region = glob__is_region(glob);

	if (region != (f->kind == FUNCTION_REGION))
		return false;
	if (!region && colon && !object_matches(glob, colon - glob, f->module))
		return false;
	if ((f->name && glob__matches_function(func, f->name)) ||
	    (f->symbol && glob__matches_function(func, f->symbol)))
		return true;
	for (size_t i = 0; i < f->aliases_cnt; i++) {
		if (glob__matches_function(func, f->aliases[i]))
			return true;
	}
	return false;
}

bool function_glob__any_matches(char *const *globs, size_t cnt, const struct profile_function *f)
{
	for (size_t i = 0; i < cnt; i++) {
		if (function_glob__matches(globs[i], f))
			return true;
	}
	return false;
}
