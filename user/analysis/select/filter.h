/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions the user wants: -F and -N globs. "FUNC" speaks of the main program (with -x: of
 * PATH); "OBJECT:FUNC" of every object whose file name or soname matches
 * OBJECT. A C++ "::" separates nothing. "region:NAME" speaks of regions, in whatever object.
 */
#ifndef PROFTRACE_SELECT_FILTER_H
#define PROFTRACE_SELECT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct symbol;

struct filter_pattern {
	char *object;	/* glob on the file name; NULL: the main program (-F), any object (-N) */
	char *func;	/* glob on function names */
	bool demangled; /* func cannot be meant for raw names alone: compare demangled names too */
	bool region;	/* func is a glob on names of regions */
	bool matched;	/* set once a function, or a region, has; of -N: one that is wanted else */
};

/* The object a function is in, as patterns see it. */
struct filter_object {
	const char *path;
	const char *soname; /* "" if it has none */
	bool is_main;
};

struct filter {
	struct filter_pattern *in, *out;
	size_t in_cnt, out_cnt;
	/* No -F was given: every function of the main program matches, and every region. */
	bool defaults;
};

/* Parses the patterns of -F (`in`) and -N (`out`). Returns 0 or -ENOMEM. */
int filter__init(struct filter *f, char *const *in, size_t in_cnt, char *const *out,
		 size_t out_cnt);
void filter__clear(struct filter *f);

/* Makes a filter of one GLOB. Returns 0 or -ENOMEM. */
int filter_pattern__parse(struct filter_pattern *p, const char *text);
void filter_pattern__clear(struct filter_pattern *p);

/* Whether it matches the function, of any object if it names none. */
bool filter_pattern__matches(const struct filter_pattern *p, const struct filter_object *obj,
			     const struct symbol *sym);

/* Whether the pattern matches a region of that name. */
bool filter_pattern__matches_region(const struct filter_pattern *p, const char *name);

/* Whether it matches a single raw name, or its demangled form. */
bool filter_pattern__matches_name(const struct filter_pattern *p, const char *name);

/* Whether the pattern names the object: its OBJECT part, if it has one. */
bool filter_pattern__names(const struct filter_pattern *p, const struct filter_object *obj);

/* Whether functions of other objects than the main program can be wanted. */
bool filter__wants_libraries(const struct filter *f);

/* Whether any function of the object can be wanted. */
bool filter__wants_object(const struct filter *f, const struct filter_object *obj);

/* Whether any region can be wanted. */
bool filter__wants_regions(const struct filter *f);

/* Whether the region is wanted. Notes which patterns have matched. */
bool filter__wants_region(struct filter *f, const char *name);
/* Whether -N takes it out. The same. */
bool filter__leaves_region(struct filter *f, const char *name);

/*
 * Whether the function is wanted. A pattern matches any of a symbol's names: raw, demangled with or
 * without parameters, and of a compiler's clone (".part.0", ".constprop.0") also the name it was
 * cloned from. Notes which patterns have matched.
 */
bool filter__wants(struct filter *f, const struct filter_object *obj, const struct symbol *sym);

#endif
