// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/describe_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/tracer.h"
#include "calls/line_order.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"

static int compare(const void *a, const void *b)
{
	return line_order__compare(a, b);
}

static int copy_inlines(const struct plan_lines *from, struct profile *p)
{
	p->inlines = from->inlines_cnt ? calloc(from->inlines_cnt, sizeof(*p->inlines)) : NULL;
	if (from->inlines_cnt && !p->inlines)
		return -ENOMEM;
	for (size_t i = 0; i < from->inlines_cnt; i++) {
		const struct plan_inline *call = &from->inlines[i];

		p->inlines[p->inlines_cnt++] = (struct profile_inline){
			.name = call->name,
			.file = call->file,
			.line = call->line,
			.parent = call->parent,
		};
	}
	return 0;
}

/* Whether only root can have written what the lines are known from. What debuginfod servers say of
 * them is somebody else's word. */
static bool are_roots(const struct plan *plan)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return !plan->lines->by_others && (!urls || !*urls);
}

int describe_lines__apply(const struct plan *plan, const struct tracer *tr, struct collector *c,
			  uint64_t until_ns, struct profile *p)
{
	const struct plan_lines *from = plan->lines;
	struct line_usage *usage;
	int err;

	if (!from || !from->lines_cnt)
		return 0;
	usage = calloc(from->lines_cnt, sizeof(*usage));
	p->lines = calloc(from->lines_cnt, sizeof(*p->lines));
	err = usage && p->lines ? copy_inlines(from, p) : -ENOMEM;
	if (!err)
		err = collector__lines(c, until_ns, usage, from->lines_cnt);
	for (size_t i = 0; !err && i < from->lines_cnt; i++) {
		const struct plan_line *l = &from->lines[i];
		const char *reason = l->reason ?: tracer__line_reason(tr, i);
		bool counts = !reason;

		p->functions[l->function].name = plan__name(plan, l->function);
		p->lines[p->lines_cnt++] = (struct profile_line){
			.file = l->file,
			.line = l->line,
			.function = l->function,
			.inlined = l->inlined,
			.hits = counts ? usage[i].hits : 0,
			.ns = counts ? usage[i].ns : 0,
			.error_ns = counts ? usage[i].error_ns : 0,
			.reason = reason,
			.approximate = counts && l->approximate,
			.aside = l->aside,
		};
	}
	free(usage);
	p->files_by_root = are_roots(plan);
	if (!err)
		qsort(p->lines, p->lines_cnt, sizeof(*p->lines), compare);
	return err;
}
