// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/wait_times.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/walk.h"

static bool is_wait(const struct profile *p, uint32_t node)
{
	return node && function__is_wait(&p->functions[p->nodes[node].function]);
}

static void add(struct wait_times *t, const char *reason, uint64_t ns)
{
	size_t i = 0;

	while (i < t->cnt && strcmp(t->items[i].reason, reason) != 0)
		i++;
	if (i == WAIT_TIMES_MAX)
		return;
	if (i == t->cnt)
		t->items[t->cnt++] = (struct wait_time){.reason = reason};
	t->items[i].ns += ns;
}

static int compare_times(const void *a, const void *b)
{
	const struct wait_time *x = a, *y = b;

	return x->ns != y->ns ? x->ns < y->ns ? 1 : -1 : strcmp(x->reason, y->reason);
}

/* Below a reason are parts of it: the file, the lock, who has ended it. */
static void sum_thread(const struct profile *p, uint32_t root, struct wait_times *out)
{
	const struct profile_node *nodes = p->nodes;
	struct walk w = walk__from(p, root);

	for (uint32_t node = root; node; node = nodes[node].next_sibling)
		out->threads_ns += nodes[node].stats.total_ns;
	while (root && walk__next(&w)) {
		if (w.entering && is_wait(p, w.node) && !is_wait(p, nodes[w.node].parent))
			add(out, p->functions[nodes[w.node].function].name,
			    nodes[w.node].stats.total_ns);
	}
}

void wait_times__sum(const struct profile *p, struct wait_times *out)
{
	*out = (struct wait_times){0};
	for (size_t i = 0; i < p->threads_cnt; i++) {
		if (!p->threads[i].spans)
			sum_thread(p, p->threads[i].first_root, out);
	}
	qsort(out->items, out->cnt, sizeof(*out->items), compare_times);
}
