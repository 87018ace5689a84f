// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/path_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/walk.h"
#include "fleet/path_ids.h"
#include "fleet/row_binary.h"

int path_tree__make(struct path_tree *t, const struct profile *p)
{
	*t = (struct path_tree){
		.paths = calloc(p->nodes_cnt + 1, sizeof(*t->paths)),
		.sizes = calloc(p->nodes_cnt + 1, sizeof(*t->sizes)),
	};
	if (!t->paths || !t->sizes)
		return -ENOMEM;
	for (size_t i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			/* Until it is left a node's size is how many there were before it. */
			if (w.entering) {
				t->sizes[w.node] = t->paths_cnt;
				t->paths[t->paths_cnt++] = w.node;
			} else {
				t->sizes[w.node] = t->paths_cnt - t->sizes[w.node];
			}
		}
	}
	return 0;
}

void path_tree__clear(struct path_tree *t)
{
	free(t->paths);
	free(t->sizes);
	*t = (struct path_tree){0};
}

struct writer {
	const struct path_tree *tree;
	const struct profile *p;
	struct rows *out;
	uint32_t *places; /* of functions, from 1 on; 0: none yet */
};

/* All functions that are met, behind the threads, in the order in which they are. */
static void write_names(struct writer *w, const struct path_ids *ids)
{
	const struct path_tree *t = w->tree;
	uint32_t *met = calloc(w->p->functions_cnt + 1, sizeof(*met));
	uint32_t cnt = 0;

	for (size_t i = 0; met && i < t->paths_cnt; i++) {
		uint32_t f = w->p->nodes[t->paths[i]].function;

		if (w->places[f])
			continue;
		met[cnt++] = f;
		w->places[f] = w->p->threads_cnt + cnt;
	}
	w->out->failed |= !met;
	rows__count(w->out, w->p->threads_cnt + cnt);
	for (size_t i = 0; i < w->p->threads_cnt; i++)
		rows__u64(w->out, ids->threads[i]);
	for (size_t i = 0; i < cnt; i++)
		rows__u64(w->out, ids->functions[met[i]]);
	free(met);
}

/* Of threads and paths, depth first: which name, or how large. */
static void write_nodes(const struct writer *w, bool sizes)
{
	const struct path_tree *t = w->tree;
	size_t at = 0;

	rows__count(w->out, w->p->threads_cnt + t->paths_cnt);
	for (size_t i = 0; i < w->p->threads_cnt; i++) {
		size_t end = at;

		for (uint32_t n = w->p->threads[i].first_root; n; n = w->p->nodes[n].next_sibling)
			end += t->sizes[n];
		rows__u32(w->out, sizes ? 1 + end - at : i);
		for (; at < end; at++) {
			uint32_t n = t->paths[at];

			rows__u32(w->out,
				  sizes ? t->sizes[n] : w->places[w->p->nodes[n].function] - 1);
		}
	}
}

void path_tree__write(const struct path_tree *t, const struct profile *p,
		      const struct path_ids *ids, struct rows *out)
{
	struct writer w = {t, p, out, calloc(p->functions_cnt + 1, sizeof(*w.places))};

	if (!w.places) {
		out->failed = true;
		return;
	}
	write_names(&w, ids);
	write_nodes(&w, false);
	write_nodes(&w, true);
	free(w.places);
}
