/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GLOBs for functions, as all options take them: "FUNC", "OBJECT:FUNC" or "region:NAME". Examples:
 * "handle_*", "libc.so.6:malloc", "ns::Class::run", "region:query".
 */
#ifndef PROFTRACE_UTIL_GLOB_H
#define PROFTRACE_UTIL_GLOB_H

#include <stdbool.h>

/* The colon that ends the OBJECT part of a GLOB: the first one that is not half of a "::"; in
 * region:NAME the one behind "region". NULL: the GLOB has no such part. */
const char *glob__object_end(const char *glob);

/* Whether a GLOB speaks of regions. */
bool glob__is_region(const char *glob);

/*
 * Whether `func`, the FUNC part of a GLOB, matches a function's name, raw or demangled: all of it,
 * or without its parameters ("f" matches "f(int)"), or the name that a compiler's clone was made of
 * ("f" matches "f.part.0", "f.constprop.0", "f(int) [clone .isra.0]" and "f(int) (inlined)").
 * Brackets and stars are common in names, so a name always matches itself.
 */
bool glob__matches_function(const char *func, const char *name);

/*
 * Whether each bracket and parenthesis of a GLOB has its counterpart, as names of functions have:
 * "operator[]", "f(int)", "f[0-9]" and "[(]*" are, "[", "f(" and "f]" are not, and match nothing.
 * Behind a backslash, and within brackets that fnmatch() takes for a set, they do not count.
 */
bool glob__is_balanced(const char *glob);

/* Whether `object`, the OBJECT part of a GLOB, matches the file at `path`: its path is that text,
 * or its last part matches the glob. */
bool glob__matches_object(const char *object, const char *path);

#endif
