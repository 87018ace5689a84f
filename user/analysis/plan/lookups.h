/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the plan's functions that are asked for of few of them: looked up when they are first
 * needed, and kept. */
#ifndef PROFTRACE_PLAN_LOOKUPS_H
#define PROFTRACE_PLAN_LOOKUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_names {
	char **items; /* demangled, or the symbol; NULL: not asked for as yet, or too much */
	size_t cnt;
	uint64_t bytes; /* of all items */
};

/* A function's place in its source; the strings are the object's. */
struct plan_place {
	const char *file; /* NULL: unknown */
	uint32_t line;
	bool looked;
};

struct plan_lookups {
	struct plan_names functions, skipped;
	struct plan_place *places; /* by function; see planner/locate.h */
	size_t places_cnt;
};

#endif
