// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/path_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/walk.h"
#include "fleet/path_ids.h"
#include "fleet/row_binary.h"

int path_tree__make(struct path_tree *t, const struct profile *p, const bool *kept)
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
			if (kept && !kept[w.node])
				continue;
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
	uint32_t *places;  /* of functions, from 1 on; 0: none yet */
	const bool *fresh; /* by node */
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

/* Calls `put` with each thread and node 0, and with each node of the thread behind it. */
static void each_node(struct writer *w,
		      void (*put)(const struct writer *w, uint32_t thread, uint32_t node))
{
	const struct path_tree *t = w->tree;
	size_t at = 0;

	rows__count(w->out, w->p->threads_cnt + t->paths_cnt);
	for (uint32_t i = 0; i < w->p->threads_cnt; i++) {
		put(w, i, 0);
		while (at < t->paths_cnt && w->p->nodes[t->paths[at]].thread == i)
			put(w, i, t->paths[at++]);
	}
}

static void put_name(const struct writer *w, uint32_t thread, uint32_t node)
{
	rows__u32(w->out, node ? w->places[w->p->nodes[node].function] - 1 : thread);
}

static void put_size(const struct writer *w, uint32_t thread, uint32_t node)
{
	uint32_t size = node ? w->tree->sizes[node] : 1;

	for (uint32_t n = node ? 0 : w->p->threads[thread].first_root; n;
	     n = w->p->nodes[n].next_sibling)
		size += w->tree->sizes[n];
	rows__u32(w->out, size);
}

static void put_fresh(const struct writer *w, uint32_t thread, uint32_t node)
{
	rows__u8(w->out, node && w->fresh[node]);
}

static void put_thread(const struct writer *w, uint32_t thread, uint32_t node)
{
	rows__string(w->out, w->p->threads[thread].comm);
}

static void put_spans(const struct writer *w, uint32_t thread, uint32_t node)
{
	rows__u8(w->out, w->p->threads[thread].spans);
}

void path_tree__write(const struct path_tree *t, const struct profile *p,
		      const struct path_ids *ids, struct rows *out)
{
	struct writer w = {t, p, out, calloc(p->functions_cnt + 1, sizeof(*w.places)), NULL};

	if (!w.places) {
		out->failed = true;
		return;
	}
	write_names(&w, ids);
	each_node(&w, put_name);
	each_node(&w, put_size);
	free(w.places);
}

void path_tree__write_threads(const struct path_tree *t, const struct profile *p, const bool *fresh,
			      struct rows *out)
{
	struct writer w = {t, p, out, NULL, fresh};

	each_node(&w, put_fresh);
	each_node(&w, put_thread);
	each_node(&w, put_spans);
}
