/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The selection by options: functions (-F, -N), regions (--usdt), lines (--lines) and values (-A).
 * A plan is made by it, to be traced or to be listed. */
#ifndef PROFTRACE_RUN_SELECTION_H
#define PROFTRACE_RUN_SELECTION_H

#include "plan/options.h"
#include "select/arguments.h"
#include "select/filter.h"
#include "select/line_spec.h"
#include "select/usdt_pattern.h"
#include "target/target.h"

struct options;

struct selection {
	struct filter filter;
	struct arguments arguments;
	struct usdt_patterns usdt;
	struct line_specs lines;
};

/* Borrows from the options. Returns 0, or -errno with one line logged; selection__clear() takes it
 * in any case, once it was all 0. */
int selection__parse(struct selection *w, const struct options *o);
void selection__clear(struct selection *w);

/* Whom to trace; borrows both. *status: as in the spec. */
struct target_spec selection__target(const struct options *o, int *status);

/* For a plan as it is now, of files that are mapped; borrows both. */
struct plan_options selection__plan_options(struct selection *w, const struct options *o);

#endif
