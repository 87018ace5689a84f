/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The role of a static probe by its name: two make a region if one begins, and the other ends, the
 * same thing. Example: "query__start" and "query__done" begin and end "query". */
#ifndef PROFTRACE_SELECT_PROBE_NAME_H
#define PROFTRACE_SELECT_PROBE_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum probe_role {
	PROBE_MARK,
	PROBE_BEGIN,
	PROBE_END,
};

/* The first `len` bytes of the name, the stem, tell which thing it is. */
struct probe_name {
	enum probe_role role;
	size_t len;
};

/* Names of proftrace.h: NAME__begin, NAME__end; any other name is a mark. */
struct probe_name probe_name__own(const char *name);

/* Names of other providers: STEM__start, STEM_entry, STEM-begin; STEM__done, STEM_return,
 * STEM__commit. */
struct probe_name probe_name__foreign(const char *name);

/* The NAME of a function proftrace_begin_NAME or proftrace_end_NAME, in Go behind the last dot, and
 * which it is; NULL: it is none. */
const char *probe_name__of_function(const char *symbol, enum probe_role *role);

/* Whether it is a Go function in assembly: its symbol ends in ".abi0", and so does its name. Go has
 * another function that calls it, without that, where its value is taken (by `defer`). */
bool probe_name__is_assembly(const char *symbol);

#endif
