// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/function_glob.h"

#include <fnmatch.h>
#include <string.h>

#include "calls/profile.h"
#include "util/glob.h"
#include "util/path.h"

/* `glob` as it is, or as the whole of a name that has brackets or stars itself, with or without
 * parameters. */
static bool name_matches(const char *glob, const char *name)
{
	size_t len = strlen(glob);
	char with_params[512];

	if (!name)
		return false;
	if (!strncmp(glob, name, len) && (!name[len] || name[len] == '('))
		return true;
	if (!fnmatch(glob, name, 0))
		return true;
	if (len + sizeof("(*") > sizeof(with_params))
		return false;
	memcpy(with_params, glob, len);
	memcpy(with_params + len, "(*", sizeof("(*"));
	return !fnmatch(with_params, name, 0);
}

static bool object_matches(const char *glob, size_t len, const char *path)
{
	char object[512];

	if (!path || len >= sizeof(object))
		return false;
	memcpy(object, glob, len);
	object[len] = '\0';
	return !strcmp(object, path) || !fnmatch(object, path_base(path), 0);
}

bool function_glob__matches(const char *glob, const struct profile_function *f)
{
	const char *colon = glob_object_end(glob);
	bool region = glob_is_region(glob);

	if (region != (f->kind == FUNCTION_REGION))
		return false;
	if (region) {
		glob = colon[1] ? colon + 1 : "*";
	} else if (colon) {
		if (!object_matches(glob, colon - glob, f->module))
			return false;
		glob = colon[1] ? colon + 1 : "*";
	}
	if (name_matches(glob, f->name) || name_matches(glob, f->symbol))
		return true;
	for (size_t i = 0; i < f->aliases_cnt; i++)
		if (name_matches(glob, f->aliases[i]))
			return true;
	return false;
}
