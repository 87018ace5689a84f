/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of source files, from the parts that debug information has. Inside dwarf/ only. */
#ifndef PROFTRACE_DWARF_SOURCE_PATHS_H
#define PROFTRACE_DWARF_SOURCE_PATHS_H

#include <elfutils/libdw.h>
#include <stddef.h>

#define SOURCE_NAMES 4096 /* a power of two */

/* A path, and the strings in the sections that it was made of. */
struct source_name {
	const char *name, *dir, *unit_dir;
	char *path;
};

struct source_paths {
	struct source_name names[SOURCE_NAMES]; /* the last ones, by hash */
	char **items;				/* owned */
	size_t cnt, cap;
};

/* The path of a file that `unit` names, `dir` as in struct line_file; NULL for `name` as libdw
 * gives it. Absolute if the unit's directory is known. NULL: there is none, or no room. It lives
 * until source_paths__clear(). */
const char *source_paths__get(struct source_paths *p, Dwarf_Die *unit, const char *dir,
			      const char *name);
void source_paths__clear(struct source_paths *p); /* accepts one that is all 0 */

#endif
