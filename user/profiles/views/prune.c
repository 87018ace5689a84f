// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/prune.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "calls/walk.h"
#include "timeline/timeline_view.h"
#include "views/compact.h"

/* A callee has never more time than its caller: but if it had, it could not stay alone. */
static void mark_paths(const struct profile *p, uint64_t min_total_ns, bool *keep)
{
	for (size_t i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];

			if (w.entering)
				keep[w.node] = n->stats.total_ns >= min_total_ns &&
					       (!n->parent || keep[n->parent]);
		}
	}
}

int profile__prune(struct profile *p, uint64_t min_total_ns)
{
	struct timeline_view view = {.min_ns = min_total_ns, .into_cnt = p->nodes_cnt};
	bool *keep;
	int err;

	if (!min_total_ns)
		return 0;
	keep = calloc(p->nodes_cnt + 1, sizeof(*keep));
	view.into = calloc(p->nodes_cnt + 1, sizeof(*view.into));
	if (!keep || !view.into) {
		free(keep);
		free(view.into);
		return -ENOMEM;
	}
	mark_paths(p, min_total_ns, keep);
	compact_nodes(p, keep, view.into);
	free(keep);
	for (size_t i = 0; i < p->functions_cnt; i++)
		p->functions[i].hidden = p->functions[i].stats.total_ns < min_total_ns;
	err = timeline__view(&p->timeline, &view);
	return err ? err : profile__connect(p);
}
