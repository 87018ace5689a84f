// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/call_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "util/array.h"

/* Whether the function stands for an error: "[ENOENT]", of the kernel. */
static bool is_error(const struct profile_function *f)
{
	return !strcmp(f->module, "[kernel]") &&
	       (!strncmp(f->symbol, "[E", 2) || !strcmp(f->symbol, "[error]"));
}

bool function__is_file(const struct profile_function *f)
{
	return !strcmp(f->module, "[files]");
}

static bool is_mark(const struct profile_function *f)
{
	return is_error(f) || function__is_file(f);
}

static int compare(const void *a, const void *b)
{
	const struct call_mark *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->mark < y->mark ? -1 : x->mark > y->mark;
}

int call_marks__new(const struct profile *p, struct call_mark **out, size_t *cnt)
{
	struct call_mark *marks = NULL;
	size_t n = 0, cap = 0, to = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *node = &p->nodes[i];

		if (!node->parent || !is_mark(&p->functions[node->function]))
			continue;
		if (ARRAY_RESERVE(&marks, n, &cap)) {
			free(marks);
			return -ENOMEM;
		}
		marks[n++] = (struct call_mark){p->nodes[node->parent].function, node->function,
						node->stats.calls};
	}
	if (n)
		qsort(marks, n, sizeof(*marks), compare);
	for (size_t i = 0; i < n; i++) {
		if (to && !compare(&marks[to - 1], &marks[i]))
			marks[to - 1].calls += marks[i].calls;
		else
			marks[to++] = marks[i];
	}
	*out = marks;
	*cnt = to;
	return 0;
}
