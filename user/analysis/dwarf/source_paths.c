// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/source_paths.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define MAX_PATHS (1u << 20)

/* Without "/./". */
static char *make_path(const struct source_name *n)
{
	const char *dir = n->dir ? n->dir : "", *unit_dir = n->unit_dir ? n->unit_dir : "";
	char path[PATH_MAX], *out = path;
	const char *in = path;

	if (*n->name == '/')
		dir = "";
	/* Relative to some other directory, what is joined would look whole and not be. */
	if (*n->name == '/' || *dir == '/' || *unit_dir != '/')
		unit_dir = "";
	if (snprintf(path, sizeof(path), "%s%s%s%s%s", unit_dir, *unit_dir ? "/" : "", dir,
		     *dir ? "/" : "", n->name) >= PATH_MAX)
		return NULL;
	while (*in) {
		if (!strncmp(in, "/./", 3))
			in += 2;
		else if (!strncmp(in, "//", 2))
			in++;
		else
			*out++ = *in++;
	}
	*out = '\0';
	return strdup(path);
}

const char *source_paths__get(struct source_paths *p, Dwarf_Die *unit, const char *dir,
			      const char *name)
{
	struct source_name made = {.name = name, .dir = dir};
	Dwarf_Attribute attr;
	struct source_name *n;

	if (!name || !*name)
		return NULL;
	if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
		made.unit_dir = dwarf_formstring(&attr);
	n = &p->names[((uintptr_t)name ^ (uintptr_t)name >> 12) % SOURCE_NAMES];
	if (n->name == name && n->dir == dir && n->unit_dir == made.unit_dir)
		return n->path;
	if (p->cnt == MAX_PATHS || ARRAY_RESERVE(&p->items, p->cnt, &p->cap))
		return NULL;
	made.path = make_path(&made);
	if (!made.path)
		return NULL;
	*n = made;
	p->items[p->cnt++] = made.path;
	return made.path;
}

void source_paths__clear(struct source_paths *p)
{
	for (size_t i = 0; i < p->cnt; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct source_paths){0};
}
