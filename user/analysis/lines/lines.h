/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans where lines of source are probed (--lines): makes the rows of plan/plan_lines.h. */
#ifndef PROFTRACE_LINES_LINES_H
#define PROFTRACE_LINES_LINES_H

#include <stddef.h>
#include <stdint.h>

struct filter_object;
struct plan;
struct plan_options;

/*
 * Plans the lines of those of object `index`'s functions that have some, from function `first` on,
 * and appends them to p->lines. Returns 0, or -errno with a line logged.
 */
int lines__plan(struct plan *p, uint32_t index, const struct filter_object *fobj, size_t first,
		const struct plan_options *opts);

#endif
