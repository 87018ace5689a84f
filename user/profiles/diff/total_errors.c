// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/total_errors.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/walk.h"

static void leave_node(const struct profile *p, struct total_errors *e, uint32_t node,
		       bool outermost)
{
	const struct profile_node *n = &p->nodes[node];

	if (estimate__of(p, &n->stats).source == SOURCE_EXACT)
		e->nodes[node] = 0;
	else
		e->nodes[node] += (double)n->stats.varied_ns;
	e->nodes[n->parent] += e->nodes[node];
	if (outermost)
		e->functions[n->function] += e->nodes[node];
}

int total_errors__new(const struct profile *p, struct total_errors *out)
{
	uint32_t *on_path = calloc(p->functions_cnt + 1, sizeof(*on_path));

	out->nodes = calloc(p->nodes_cnt + 1, sizeof(*out->nodes));
	out->functions = calloc(p->functions_cnt + 1, sizeof(*out->functions));
	if (!on_path || !out->nodes || !out->functions) {
		free(on_path);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			uint32_t function = p->nodes[w.node].function;

			if (w.entering)
				on_path[function]++;
			else
				leave_node(p, out, w.node, !--on_path[function]);
		}
	}
	free(on_path);
	return 0;
}

void total_errors__clear(struct total_errors *e)
{
	free(e->nodes);
	free(e->functions);
	*e = (struct total_errors){0};
}
