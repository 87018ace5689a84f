/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the user what the filter did not find. */
#ifndef PROFTRACE_PLANNER_UNMATCHED_H
#define PROFTRACE_PLANNER_UNMATCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "util/log.h"

struct arguments;
struct filter;
struct line_spec;
struct plan;
struct target;
struct usdt_patterns;

/* Sources of functions that may still come while the target runs. */
struct unmatched_hopes {
	bool files;    /* that are mapped later: for patterns that name one */
	bool programs; /* that are started later: for every pattern */
	bool same;     /* programs that come later have the name of those that run (-p NAME) */
	bool runs;     /* a command that is run whatever can be traced of it */
};

/*
 * Names each pattern that matches nothing, with the nearest names there are: a misspelt one must
 * not go unnoticed among others. If nothing at all can be probed, now or later, says why. Returns
 * whether there is something to trace or to wait for.
 */
bool unmatched__report(const struct plan *p, const struct target *t, const struct filter *filter,
		       const struct usdt_patterns *usdt, const struct unmatched_hopes *hopes);

/* Names the first list of -A that no function matches. Returns whether the run can go on. */
bool unmatched__arguments(const struct plan *p, const struct target *t, const struct arguments *a,
			  const struct unmatched_hopes *hopes);

/* Says that --lines matches nothing, and names functions like the one that was asked for. */
void unmatched__lines(const struct plan *p, const struct line_spec *spec, enum log_level level);

/* The names most like a FUNC, OBJECT:FUNC or region:NAME that matches nothing, ", " between them,
 * in `buf`, which it returns; empty if there are none. */
char *unmatched__nearest(const struct plan *p, const char *glob, char *buf, size_t size);

#endif
