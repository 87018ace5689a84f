// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls are written as they end, the profile now and then. So calls name what they belong to by
 * numbers of their own; here these become the profile's. A run that was cut off has calls, and
 * whole threads, of which its last profile does not know yet.
 */
#include "record/calls/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/identity.h"
#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/tree.h"
#include "util/array.h"

/* The profile's threads, then all call stacks as if they were threads. */
static int append_callstacks(const struct names *n, struct profile *p)
{
	size_t cnt = p->threads_cnt;
	struct profile_thread *all =
		reallocarray(p->threads, cnt + n->callstacks_cnt + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	p->threads = all;
	for (size_t i = 0; i < n->callstacks_cnt; i++) {
		const struct recorded_callstack *l = &n->callstacks[i];

		all[cnt + i] = (struct profile_thread){
			.pid = l->pid,
			.tid = l->tid,
			.start_ns = l->start_ns,
			.goroutine = l->goroutine,
			.callstack_ns = l->callstack_ns,
			.spans = l->spans,
		};
	}
	return 0;
}

static int compare_refs(const void *a, const void *b)
{
	const struct profile_thread *x = *(const struct profile_thread *const *)a;
	const struct profile_thread *y = *(const struct profile_thread *const *)b;

	/* Equal threads stay in their order, the first one first. */
	return identity__compare(x, y) ?: (x > y) - (x < y);
}

/* firsts[i] = the first of all threads that is the same as i. Of a thread without a name another
 * stack of it may know one. */
static int find_firsts(struct profile_thread *all, size_t cnt, uint32_t *firsts)
{
	struct profile_thread **sorted = calloc(cnt + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = &all[i];
	qsort(sorted, cnt, sizeof(*sorted), compare_refs);
	for (size_t i = 0; i < cnt; i++) {
		struct profile_thread *t = sorted[i], *before = i ? sorted[i - 1] : t;
		bool same = i && !identity__compare(t, before);

		firsts[t - all] = same ? firsts[before - all] : t - all;
		if (!*t->comm && t->pid == before->pid && t->tid == before->tid)
			memmove(t->comm, before->comm, sizeof(t->comm));
	}
	free(sorted);
	return 0;
}

static int match_callstacks(const struct names *n, struct profile *p, struct match *m)
{
	size_t known = p->threads_cnt, cnt = known + n->callstacks_cnt;
	uint32_t *firsts = calloc(cnt + 1, sizeof(*firsts));
	int err = firsts ? append_callstacks(n, p) : -ENOMEM;

	if (!err)
		err = find_firsts(p->threads, cnt, firsts);
	for (size_t i = known; i < cnt && !err; i++) {
		uint32_t *thread = &m->threads[i - known + 1];

		if (firsts[i] < known) {
			*thread = firsts[i];
		} else if (firsts[i] < i) {
			*thread = m->threads[firsts[i] - known + 1];
		} else {
			p->threads[p->threads_cnt] = p->threads[i];
			*thread = p->threads_cnt++;
		}
	}
	free(firsts);
	return err;
}

static int add_node(struct profile *p, size_t *cap, uint32_t thread, uint32_t parent,
		    uint32_t function)
{
	if (ARRAY_RESERVE(&p->nodes, p->nodes_cnt, cap))
		return -ENOMEM;
	p->nodes[p->nodes_cnt++] = (struct profile_node){
		.parent = parent,
		.function = function,
		.thread = thread,
		.stats.min_ns = UINT64_MAX,
	};
	return 0;
}

/* The node of a path whose caller's is known, or 0. */
static int match_path(const struct names *n, uint32_t number, struct profile *p,
		      struct path_map *map, size_t *cap, struct match *m)
{
	const struct recorded_path *path = &n->paths[number - 1];
	uint32_t thread, parent, *node;

	if (path->parent >= number || !path->callstack || path->callstack > n->callstacks_cnt ||
	    (path->parent && n->paths[path->parent - 1].callstack != path->callstack))
		return -EINVAL;
	parent = m->paths[path->parent].node;
	thread = m->threads[path->callstack];
	m->paths[number].thread = thread;
	if (path->function >= p->functions_cnt || (path->parent && !parent))
		return 0;
	node = path_map__at(map, path_step(parent, thread, path->function));
	if (!*node) {
		if (add_node(p, cap, thread, parent, path->function))
			return -ENOMEM;
		*node = p->nodes_cnt - 1;
	}
	m->paths[number].node = *node;
	return 0;
}

static int match_paths(const struct names *n, struct profile *p, struct match *m)
{
	size_t cap = p->nodes_cnt;
	struct path_map map;
	int err = path_map__init(&map, p->nodes_cnt + n->paths_cnt);

	if (err)
		return err;
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *node = &p->nodes[i];
		uint32_t *at =
			path_map__at(&map, path_step(node->parent, node->thread, node->function));

		*at = *at ? *at : i;
	}
	for (size_t i = 1; i <= n->paths_cnt && !err; i++)
		err = match_path(n, i, p, &map, &cap, m);
	path_map__fini(&map);
	return err;
}

int match__names(const struct names *n, struct profile *p, struct match *m)
{
	size_t known = p->nodes_cnt;
	int err;

	*m = (struct match){.callstacks_cnt = n->callstacks_cnt, .paths_cnt = n->paths_cnt};
	m->threads = calloc(n->callstacks_cnt + 1, sizeof(*m->threads));
	m->paths = calloc(n->paths_cnt + 1, sizeof(*m->paths));
	err = m->threads && m->paths ? match_callstacks(n, p, m) : -ENOMEM;
	if (!err)
		err = match_paths(n, p, m);
	if (!err && p->nodes_cnt > known)
		err = profile__connect(p);
	if (err)
		match__fini(m);
	return err;
}

void match__fini(struct match *m)
{
	free(m->threads);
	free(m->paths);
	*m = (struct match){0};
}
