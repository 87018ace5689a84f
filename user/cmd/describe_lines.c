// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/describe_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "calls/line_order.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "plan/lines.h"
#include "plan/plan.h"
#include "target/target.h"

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

/* Whether only root can have written the files that the lines are of. What debuginfod servers say
 * of them is somebody else's word. */
static bool are_roots(const struct plan *plan, const struct target *t)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const struct plan_lines *lines = plan->lines;
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < lines->lines_cnt; i++) {
		uint32_t object = plan->functions[lines->lines[i].function].object;
		struct stat st;

		if (object == last)
			continue;
		if (fstat(t->objects[object].fd, &st) || st.st_uid ||
		    st.st_mode & (S_IWGRP | S_IWOTH))
			return false;
		last = object;
	}
	return !urls || !*urls;
}

int describe_lines__apply(struct plan *plan, const struct target *t, struct collector *c,
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
		bool counts = !l->reason;

		p->functions[l->function].name = plan__name(&plan->functions[l->function]);
		p->lines[p->lines_cnt++] = (struct profile_line){
			.file = l->file,
			.line = l->line,
			.function = l->function,
			.inlined = l->inlined,
			.hits = counts ? usage[i].hits : 0,
			.ns = counts ? usage[i].ns : 0,
			.error_ns = counts ? usage[i].error_ns : 0,
			.reason = l->reason,
			.approximate = counts && l->approximate,
			.aside = l->aside,
		};
	}
	free(usage);
	p->files_by_root = are_roots(plan, t);
	if (!err)
		qsort(p->lines, p->lines_cnt, sizeof(*p->lines), compare);
	return err;
}
